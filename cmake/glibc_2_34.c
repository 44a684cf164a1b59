// SPDX-License-Identifier: Apache-2.0
// The C library's functions newer than 2.34 that the compiler's own static libraries call when they
// were built on Debian 12, so that libhocket.so also loads on systems with glibc 2.34. Each is
// written over an older call. Linked into shared libraries only, and hidden there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int visit(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size;
  struct Search* search = argument;
  uintptr_t start = 0;
  uintptr_t end = 0;
  void* frames = NULL;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t from = object->dlpi_addr + part->p_vaddr;
    const uintptr_t to = from + part->p_memsz;
    if (part->p_type == PT_LOAD && from <= search->address && search->address < to) {
      start = from;
      end = to;
    }
    if (part->p_type == PT_GNU_EH_FRAME) frames = (void*)from;
  }
  if (end == 0 || frames == NULL) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void*)start, .dlfo_map_end = (void*)end, .dlfo_eh_frame = frames};
  return 1;
}

// Since 2.35, called by libgcc's unwinder.
HIDDEN int _dl_find_object(void* address, struct dl_find_object* result) {
  struct Search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}

// Since 2.36, called by libstdc++'s random_device.
HIDDEN uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) abort();
  return value;
}
