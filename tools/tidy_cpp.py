# SPDX-License-Identifier: Apache-2.0
"""Reads C++ well enough for tools/tidy.py: code apart from comments, tokens, scopes.

There is no grammar: a brace is classified by the tokens since the last statement ended. What
cannot be told apart is taken for harmless, so that sane code raises no alarm.
"""
import re
from dataclasses import dataclass, field

LEXEME = re.compile(r'''
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
  | (?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")
  | (?P<number>\b\d[\w.']*)
  | "(?:\\.|[^"\\\n])*"
  | '(?:\\.|[^'\\\n])+'
''', re.S | re.X | re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
ATTRIBUTE = re.compile(r'\[\[[^\[\]]*\]\]')
TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.\']*|""|::|->|<=>|<<=?|[<>=!+\-*/%&|^]=|&&|\|\||\+\+|--'
                   r'|\.\.\.|\S')

CONTROLS = {'if', 'for', 'while', 'switch', 'do', 'try', 'catch'}
ACCESS = {'public', 'private', 'protected'}
CO_WORDS = {'co_await', 'co_return', 'co_yield'}
CLASS_WORDS = {'class', 'struct', 'union'}
NOT_A_NAME = {'decltype', 'alignas', 'noexcept', 'explicit', 'requires', 'sizeof', 'return',
              '__attribute__', '__declspec', '__launch_bounds__'}
NO_VARIABLE = {'using', 'typedef', 'friend', 'static_assert', 'template', 'enum', 'extern',
               'concept', 'namespace', 'requires'} | CLASS_WORDS
PAIRS = {'(': ')', '[': ']', '{': '}', '<': '>'}


@dataclass
class Token:
    text: str
    line: int


@dataclass
class Scan:
    """What one file declares, each entry beginning with its line."""
    functions: list = field(default_factory=list)   # (line, name, lines, is a kernel)
    parameters: list = field(default_factory=list)  # (line, name, count)
    classes: list = field(default_factory=list)     # (line, name, data members)
    nesting: list = field(default_factory=list)     # (line, depth) of every statement
    captures: list = field(default_factory=list)    # (line,): coroutines that are capturing lambdas
    statics: list = field(default_factory=list)     # (line, name): mutable function statics
    globals: list = field(default_factory=list)     # (line, name): mutable namespace variables


def split(text):
    """(code, comments): code keeps its lines, has no comments and empty literals."""
    comments = []

    def replace(match):
        whole, kind = match.group(), match.lastgroup
        if kind in ('number', 'include'):
            return whole
        lines = '\n' * whole.count('\n')
        if kind != 'comment':
            return '""' + lines
        comments.append((text.count('\n', 0, match.start()) + 1, whole))
        return ' ' + lines

    return LEXEME.sub(replace, text), comments


def includes(code):
    """(line, '<' or '"', path) of every include."""
    return [(code.count('\n', 0, m.start()) + 1, m.group(1), m.group(2))
            for m in INCLUDE.finditer(code)]


def tokens(code):
    """The tokens of code, without preprocessor lines and attributes."""
    def lines_of(match):
        return '\n' * match.group().count('\n')
    code = ATTRIBUTE.sub(lines_of, DIRECTIVE.sub(lines_of, code))
    found, line, last = [], 1, 0
    for match in TOKEN.finditer(code):
        line += code.count('\n', last, match.start())
        last = match.start()
        found.append(Token(match.group(), line))
    return found


def is_word(text):
    return text[:1].isalpha() or text[:1] == '_'


def opening(texts, end):
    """Index of the bracket that the one at `end` closes; 0 if there is none."""
    depth = 0
    for i in range(end, -1, -1):
        if texts[i] in (')', ']', '}'):
            depth += 1
        elif texts[i] in ('(', '[', '{'):
            depth -= 1
            if depth == 0:
                return i
    return 0


def top_level(texts):
    """(index, text) of what stands outside parentheses, braces and template arguments."""
    depth, angle = 0, 0
    for i, text in enumerate(texts):
        if text in '([{':
            if depth == angle == 0:
                yield i, text
            depth += 1
        elif text in ')]}' and depth:
            depth -= 1
        elif depth:
            continue
        elif text == '<' and i and is_word(texts[i - 1]) and texts[i - 1] != 'operator':
            angle += 1
        elif text == '>' and angle:
            angle -= 1
        elif angle == 0:
            yield i, text


def strip_head(head):
    """A statement's tokens without access labels, template<...> and alignas(...)."""
    while len(head) > 1 and head[0].text in ACCESS and head[1].text == ':':
        head = head[2:]
    while head and head[0].text == 'template':
        depth, i = 0, 1
        while i < len(head):
            depth += (head[i].text == '<') - (head[i].text == '>')
            i += 1
            if depth == 0:
                break
        head = head[i:]
    for i, token in enumerate(head):
        if token.text == 'alignas' and i + 1 < len(head):
            end = i + 1
            depth = 0
            while end < len(head):
                depth += (head[end].text == '(') - (head[end].text == ')')
                end += 1
                if depth == 0:
                    break
            return strip_head(head[:i] + head[end:])
    return head


def parameter_list(texts):
    """Index of the parenthesis that opens a function's parameters; None if there is none."""
    for i, text in top_level(texts):
        if text == '=' and texts[i - 1] != 'operator':
            return None
        if text != '(' or i == 0:
            continue
        if texts[max(0, i - 3):i].count('operator') and texts[i - 1] != 'operator':
            return i
        if is_word(texts[i - 1]) and texts[i - 1] not in NOT_A_NAME | {'operator'}:
            return i
    return None


def count_parameters(texts, start):
    count, depth, angle = 0, 0, 0
    for text in texts[start:]:
        if text in '([{':
            depth += 1
        elif text in ')]}':
            depth -= 1
            if depth == 0:
                break
        elif text == '<':
            angle += 1
        elif text == '>':
            angle = max(0, angle - 1)
        elif text == ',' and depth == 1 and angle == 0:
            count += 1
        if count == 0 and depth == 1 and text != '(' and text != 'void':
            count = 1
    return count


def variables(head):
    """Names declared by a statement that declares variables, else nothing."""
    texts = [t.text for t in head]
    if len(texts) < 2 or texts[0] in NO_VARIABLE or 'operator' in texts:
        return []
    ends = [i for i, text in top_level(texts) if text in ('=', '{')]
    texts = texts[:ends[0]] if ends else texts
    paren = next((i for i, text in top_level(texts) if text == '('), None)
    if paren is not None and texts[paren + 1:paren + 2] != ['*']:
        return []
    names = [text for _, text in top_level(texts) if is_word(text)]
    return names[-1:] + [text for _, text in top_level(texts) if text == ',']


def is_lambda(texts):
    """Whether a brace after these tokens opens the body of a lambda; its capture's index if so."""
    i = len(texts) - 1
    arrow = next((k for k in range(i, max(-1, i - 12), -1) if texts[k] == '->'), None)
    if arrow is not None and texts[arrow - 1] in (')', 'mutable', 'noexcept'):
        i = arrow - 1
    while i >= 0 and texts[i] in ('mutable', 'noexcept', 'const', 'constexpr', 'static'):
        i -= 1
    if i >= 0 and texts[i] == ')':
        i = opening(texts, i) - 1
    if i < 0 or texts[i] != ']':
        return None
    start = opening(texts, i)
    before = texts[start - 1] if start else ''
    is_index = before in (')', ']') or (is_word(before) and before not in CO_WORDS | {'return'})
    return None if is_index else start


class Scope:
    def __init__(self, kind, head, parent):
        self.kind, self.head = kind, head
        self.parent = parent
        self.depth = parent.depth if parent else 0   # control blocks around, within a function
        self.line = head[0].line if head else 0
        self.name = ''
        self.members = 0
        self.coroutine = False


def in_function(scope):
    while scope and scope.kind in ('init', 'block'):
        if scope.kind == 'block':
            return True
        scope = scope.parent
    return scope is not None and scope.kind in ('function', 'lambda')


def classify(head, scope, parens):
    """The kind of scope that a brace after `head` opens."""
    texts = [t.text for t in head]
    if is_lambda(texts) is not None:
        return 'lambda'
    if parens:
        return 'init'
    if not texts:
        return 'block' if in_function(scope) else 'namespace'
    if 'namespace' in texts[:2] or texts == ['extern', '""']:
        return 'namespace'
    tops = [text for _, text in top_level(texts)]
    if 'enum' in texts[:2]:
        return 'enum'
    if CLASS_WORDS & set(tops) and '(' not in tops and '=' not in tops:
        return 'class'
    if in_function(scope):
        starts = texts[0] in CONTROLS | {'else', 'case', 'default'} or texts[-1] == ':'
        return 'block' if starts and texts[-1] in (')', 'else', 'do', 'try', ':') else 'init'
    start = parameter_list(texts)
    if start is None:
        return 'init'
    after = [text for _, text in top_level(texts[start:])]
    if ':' in after and (is_word(texts[-1]) or texts[-1] == '>'):
        return 'init'
    return 'function'


def controls(head):
    """How many control statements a statement begins with. `else if` counts once, and so do loops
    of nothing but a loop, which walk a product."""
    words = [t.text for t in head]
    found = [text for _, text in top_level(words) if text in CONTROLS | {'else'}]
    pairs = zip([''] + found, found)
    return sum((before, text) not in (('else', 'if'), ('for', 'for')) for before, text in pairs)


def strip_labels(head):
    """A statement of a function without case labels."""
    while head and head[0].text in ('case', 'default'):
        colon = next((i for i, t in enumerate(head) if t.text == ':'), None)
        if colon is None:
            break
        head = head[colon + 1:]
    return head


class Scanner:
    def __init__(self):
        self.scan = Scan()
        self.scope = Scope('namespace', [], None)
        self.head = []
        self.parens = 0
        self.saved = []

    def run(self, stream):
        for token in stream:
            text = token.text
            if text == '{':
                self.open(token)
            elif text == '}':
                self.close(token)
            elif text == ';' and self.parens == 0:
                self.statement()
                self.head = []
            else:
                self.parens += (text in '([') - (text in ')]')
                self.head.append(token)
                if text in CO_WORDS:
                    self.mark_coroutine()
        return self.scan

    def mark_coroutine(self):
        scope = self.scope
        while scope and scope.kind not in ('function', 'lambda'):
            scope = scope.parent
        if scope:
            scope.coroutine = True

    def open(self, token):
        head = strip_head(self.head)
        kind = classify(head, self.scope, self.parens)
        scope = Scope(kind, head or [token], self.scope)
        if kind == 'function':
            self.function(head)
            scope.depth = 0
            scope.name = self.name(head)
        elif kind == 'class':
            words = [t.text for t in head]
            after = next(i for i, text in enumerate(words) if text in CLASS_WORDS) + 1
            names = [w for w in words[after:after + 8] if is_word(w) and w not in ('final',)]
            scope.name = names[0] if names else '(unnamed)'
        elif kind == 'block':
            scope.depth += controls(strip_labels(head))
            self.scan.nesting.append((token.line, scope.depth))
        self.saved.append((self.head, self.parens))
        self.scope, self.head, self.parens = scope, [], 0

    def close(self, token):
        if self.scope.parent is None:
            return
        scope, self.scope = self.scope, self.scope.parent
        head, parens = self.saved.pop()
        lines = token.line - scope.line + 1
        if scope.kind == 'function':
            kernel = any(t.text == '__global__' for t in scope.head)
            self.scan.functions.append((scope.line, scope.name, lines, kernel))
        elif scope.kind == 'lambda':
            self.close_lambda(scope, lines)
        elif scope.kind == 'class':
            self.scan.classes.append((scope.line, scope.name, scope.members))
        if scope.kind in ('init', 'lambda'):
            self.head, self.parens = head + [Token('{', token.line), Token('}', token.line)], parens
        else:
            self.head, self.parens = [], 0

    def close_lambda(self, scope, lines):
        texts = [t.text for t in scope.head]
        start = is_lambda(texts)
        if scope.coroutine and texts[start + 1] != ']':
            self.scan.captures.append((scope.head[start].line,))
        if not in_function(self.scope):
            self.scan.functions.append((scope.line, 'a lambda', lines, False))

    def name(self, head):
        texts = [t.text for t in head]
        start = parameter_list(texts)
        if 'operator' in texts[:start]:
            return 'operator' + ''.join(texts[texts.index('operator') + 1:start])
        return ('~' if texts[start - 2:start - 1] == ['~'] else '') + texts[start - 1]

    def function(self, head):
        texts = [t.text for t in head]
        start = parameter_list(texts)
        self.scan.parameters.append((head[0].line, self.name(head), count_parameters(texts, start)))

    def statement(self):
        head = strip_labels(self.head) if in_function(self.scope) else strip_head(self.head)
        if not head:
            return
        if in_function(self.scope):
            self.scan.nesting.append((head[0].line, self.scope.depth + controls(head)))
            words = [t.text for t in head]
            if words[0] == 'static' and not {'constexpr', 'const'} & set(words):
                self.scan.statics.append((head[0].line, (variables(head) or ['?'])[0]))
            return
        is_template = any(t.text == 'template' for t in self.head)
        names = [] if is_template else variables(head)
        words = [t.text for t in head]
        if self.scope.kind == 'class':
            self.scope.members += 0 if 'static' in words else len(names)
        if names and self.scope.kind == 'namespace' or names and 'static' in words:
            if not {'const', 'constexpr', 'thread_local'} & set(words):
                self.scan.globals.append((head[0].line, names[0]))
        if not names and words[0] not in NO_VARIABLE | {'extern'} or words[0] == 'friend':
            if parameter_list(words) is not None:
                self.function(head)


def scan(stream):
    return Scanner().run(stream)


def awaits(stream):
    """(line, complaint) of every co_await in a form that g++ 12 is not trusted with."""
    texts = [t.text for t in stream]
    for i, text in enumerate(texts):
        if text == 'co_await' and texts[i - 1] != 'operator':
            complaint = before_await(texts, i) or after_await(texts, i)
            if complaint:
                yield stream[i].line, complaint


def before_await(texts, i):
    prefix, j = [], i - 1
    while j >= 0 and texts[j] not in (';', '{', '}', 'else', 'do'):
        if texts[j] == ')':
            start = opening(texts, j)
            if texts[start - 1] in ('if', 'for', 'while', 'switch', 'constexpr'):
                break
            return 'it is part of an expression'
        if texts[j] == '(':
            return 'it is part of an expression or a condition'
        if texts[j] == ':' and '?' not in prefix:
            k = j
            while k >= 0 and texts[k] not in (';', '{', '}', '?'):
                k -= 1
            if texts[k] != '?':
                break   # a label
        prefix.insert(0, texts[j])
        j -= 1
    if 'auto' in prefix and '[' in prefix:
        return 'a structured binding takes it apart'
    if not prefix or prefix == ['co_return']:
        return None
    if prefix[-1] != '=' or '=' in prefix[:-1] or '?' in prefix:
        return 'it is part of an expression'
    return None


def after_await(texts, i):
    end, depth = i + 1, 0
    while end < len(texts) and (texts[end] != ';' or depth > 0):
        if texts[end] in ('{', '}'):
            return 'braces stand inside the awaited expression'
        if texts[end] == 'co_await':
            return 'another one stands inside it'
        depth += (texts[end] in '([') - (texts[end] in ')]')
        if depth < 0:
            return 'it is part of an expression'
        end += 1
    outside = [text for _, text in top_level(texts[i + 1:end])]
    operand = outside[1:] if outside[:1] in (['*'], ['&']) else outside
    if all(is_word(text) or text in ('::', '.', '->', '(', '[', '""') for text in operand):
        return None
    return 'it is part of an expression'
