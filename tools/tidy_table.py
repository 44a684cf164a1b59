# SPDX-License-Identifier: Apache-2.0
"""What tools/tidy.py enforces, as data: who may include whom, banned words, sizes."""

# Folder of src/ -> the folders whose headers it may include, itself aside.
ADAPTER = 'base async trace topo world'
ADAPTERS = 'device/kernels device/cpu device/cuda transport/local transport/shm transport/tcp ' \
           'transport/verbs host sim'
ENGINE = 'base async trace world topo plan fault algo control'
MAY_INCLUDE = {
    'base': '',
    'async': 'base',
    'trace': 'base',
    'topo': 'base',
    'world': 'base async trace topo',
    'plan': 'base topo',
    'fault': 'base topo trace',
    'algo': 'base topo plan',
    'control': 'base async trace topo world fault',
    'engine': ENGINE,
    'device/kernels': 'base world',
    'device/cpu': ADAPTER + ' device/kernels',
    'device/cuda': ADAPTER + ' device/kernels',
    'device': ADAPTER + ' device/kernels device/cpu device/cuda',
    'transport/local': ADAPTER,
    'transport/shm': ADAPTER,
    'transport/tcp': ADAPTER,
    'transport/verbs': ADAPTER,
    'transport': ADAPTER + ' transport/local transport/shm transport/tcp transport/verbs',
    'host': ADAPTER,
    'sim': ADAPTER,
    'scenario': f'{ENGINE} engine device transport {ADAPTERS}',
    'api': f'{ENGINE} engine device transport {ADAPTERS}',
    'tools': f'{ENGINE} engine device transport {ADAPTERS} scenario api',
    'bench': f'{ENGINE} engine device transport {ADAPTERS} scenario api',
    'examples': '',
    # Code of tests: included by tests alone.
    'testing': f'{ENGINE}',
    'transport/conformance': f'{ADAPTER} testing',
}
# What tests of a folder may include beyond what the folder may: the worlds that they run it in.
TESTS_MAY_INCLUDE = {
    'plan': 'algo',
    'control': ADAPTERS,
    'engine': f'device transport {ADAPTERS}',
    'device/cpu': 'host',
    'device/cuda': 'device/cpu host',
    'transport/local': 'transport/conformance device/cpu host',
    'transport/shm': 'transport/conformance device/cpu host',
    'transport/tcp': 'transport/conformance device/cpu host',
    'transport/verbs': 'transport/conformance device/cpu host',
    'sim': 'transport/conformance device/cpu',
}
TEST_FOLDERS = ('testing', 'transport/conformance')

# Folders that see the C++ library alone: no operating system, no threads, no foreign library.
PURE = ('base', 'async', 'trace', 'world', 'topo', 'plan', 'fault', 'algo', 'control', 'engine')
IMPURE_HEADERS = {'thread', 'mutex', 'shared_mutex', 'condition_variable', 'future', 'semaphore',
                  'latch', 'barrier', 'stop_token', 'filesystem', 'fstream', 'csignal', 'ctime'}

# Header -> where it may be included: folders, or 'tests'; then whether only outside headers.
FOREIGN = [
    (r'(gtest|gmock)/', ('tests',)),
    (r'benchmark/', ('tests', 'bench')),
    (r'fmt/', ('device', 'transport', 'host', 'sim', 'scenario', 'api', 'tools', 'bench')),
    (r'(CLI|nlohmann)/', ('scenario', 'tools', 'bench')),
    (r'hwy/', ('device/cpu',)),
    (r'sodium', ('host', 'transport')),
    # The compiler's own: an arena tells what is free, a fiber where its stack is.
    (r'sanitizer/', ('base', 'device/cpu')),
    (r'cuda', ('device/cuda',)),
    (r'infiniband/', ('transport/verbs',)),
]
NOT_IN_HEADERS = r'(fmt|CLI|nlohmann)/(?!json_fwd\.hpp)'

# Word, what to use instead, where it may stand (path prefixes, or 'tests').
THREADS = ('src/host/', 'src/api/', 'tests', 'tools/', 'bench/', 'examples/')
ATOMICS = ('src/base/', 'src/trace/', 'src/transport/shm/', 'src/device/', 'tests', 'tools/',
           'bench/')
CLOCKS = ('src/host/', 'tools/', 'bench/', 'examples/')
WORDS = [
    (r'std::(move_only_)?function\b', 'a template parameter, an interface or a function pointer',
     ()),
    (r'\b(secure_)?getenv\b', 'the Config that host/env.cc reads',
     ('src/host/env.cc', 'src/testing/cases.h')),
    (r'\bsystem_clock\b', "the world's Clock", ()),
    (r'\b(steady_clock|high_resolution_clock|clock_gettime)\b', "the world's Clock", CLOCKS),
    (r'\b(u|nano)?sleep(_for|_until)?\s*\(', 'a wait that has a deadline', ()),
    (r'\bs?rand\s*\(|\bstd::(mt19937\w*|random_device|default_random_engine)\b',
     'the seeded Prng of base', ()),
    (r'\bv?(f|s|sn|as|d)?printf\s*\(|\b(puts|fputs|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b',
     'a trace event or an Error; fmt in tools', ('src/base/check.cc', 'examples/', 'bench/')),
    (r'(?<!asm )\bvolatile\b', 'std::atomic in the folders that may have it', ()),
    (r'\b(shared_ptr|make_shared)\s*<(?!\s*const\b)', 'unique_ptr, or shared_ptr<const T>',
     ('tools/',)),
    (r'\bgoto\b', 'a function that returns', ()),
    (r'\bstd::atomic\w*|\b__(atomic|sync)_\w+', 'the Loop; atomics live in base, trace, '
     'transport/shm and device', ATOMICS),
    (r'\bstd::(jthread|thread|this_thread|async|future|promise|\w*mutex|condition_variable\w*|'
     r'\w+_lock|lock_guard|call_once)\b|\bpthread_\w+', 'the Loop; threads live in host and api',
     THREADS),
    (r'\b(is_?simulat\w+|in_?simulat\w+|IsSimulat\w+)\b', 'nothing: no code may ask', ()),
    (r'\bnew\b(?!\s*\()', 'make_unique, or a container', ()),
    (r'\bdelete\b', 'an owner that destroys', ()),
    (r'\bthread_local\b', 'an argument; thread_local lives in api', ('src/api/',)),
]

# Sizes: lines of a function and of a GPU kernel, of a file, a test, a header, of a header's prose
# and of a README; characters of a line; sources of a folder (x.h and x.cc are one).
LINE, FUNCTION, KERNEL = 100, 70, 120
FILE_LINES, TEST_LINES, HEADER_LINES, HEAD_LINES, README = 500, 800, 300, 25, 60
MEMBERS, PARAMETERS, NESTING, SOURCES = 15, 4, 3, 15

ROOTS = ('src', 'include', 'tools', 'bench', 'examples', 'fuzz', 'cmake')
CPP = ('.h', '.cc', '.c', '.cu', '.cuh')
TEXT = CPP + ('.py', '.sh', '.cmake', '.txt')
SKIPPED = {'build', '.git', '.cache', '.venv', '__pycache__', 'node_modules'}

# Folders whose members are added without touching another folder of src/.
WALK = ('algo', 'transport', 'fault')
