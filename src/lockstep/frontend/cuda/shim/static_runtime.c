// A CUDA runtime that is linked into a program or a library: before anything of that runs, each of
// the runtime's functions becomes a jump to the replacement's. The dynamic linker calls this library
// for every object that it loads (LD_AUDIT), also in programs that are no CUDA programs, such as
// shells, whose children inherit it. It has a C library of its own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "static_names.h"

#define API __attribute__((visibility("default")))

enum { OLDEST = 11 }; // CUDA version

// Where the functions of each replacement are: NULL until they are called. Nothing can be loaded
// while the dynamic linker loads an object.
__attribute__((used)) static void *targets[VERSIONS][MOST_NAMES];

// r11: version and function, as the index of all; the arguments are where the caller left them.
__asm__(".text\n"
        "go_on:\n"
        "    lea targets(%rip), %r10\n"
        "    mov (%r10, %r11, 8), %r10\n"
        "    test %r10, %r10\n"
        "    je 1f\n"
        "    jmp *%r10\n"
        "1:  push %rdi\n"
        "    push %rsi\n"
        "    push %rdx\n"
        "    push %rcx\n"
        "    push %r8\n"
        "    push %r9\n"
        "    push %r11\n"
        "    mov %r11, %rdi\n"
        "    call find_target\n"
        "    pop %r11\n"
        "    pop %r9\n"
        "    pop %r8\n"
        "    pop %rcx\n"
        "    pop %rdx\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    jmp *%rax\n");
extern void go_on(void) __attribute__((visibility("hidden")));

enum { JUMP = 19 }; // bytes: mov index, %r11d; mov go_on, %r10; jmp *%r10

static void write_jump(unsigned char *at, uint32_t index) {
    static const unsigned char set[] = {0x41, 0xbb}, load[] = {0x49, 0xba};
    static const unsigned char jump[] = {0x41, 0xff, 0xe2};
    void (*to)(void) = go_on;
    memcpy(at, set, sizeof set);
    memcpy(at + 2, &index, sizeof index);
    memcpy(at + 6, load, sizeof load);
    memcpy(at + 8, &to, sizeof to);
    memcpy(at + 16, jump, sizeof jump);
}

// An object: its file, where its code begins, and the functions that its file lists for debuggers.
struct object {
    const unsigned char *file;
    size_t bytes;
    uintptr_t base;
    const ElfW(Sym) *symbols;
    size_t count;
    const char *names;
    size_t name_bytes;
};

// A part of the file, if it is there.
static const void *part(const struct object *object, size_t at, size_t size) {
    return at <= object->bytes && size <= object->bytes - at ? object->file + at : NULL;
}

// The texts of a section; NULL if they do not end.
static const char *texts(const struct object *object, const ElfW(Shdr) *section) {
    const char *found = part(object, section->sh_offset, section->sh_size);
    return found && section->sh_size && !found[section->sh_size - 1] ? found : NULL;
}

// Find the functions that the file lists, or those that it offers; false if there are none.
static bool find_functions(struct object *object) {
    const ElfW(Ehdr) *head = part(object, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG)) {
        return false;
    }
    size_t count = head->e_shnum;
    const ElfW(Shdr) *sections = part(object, head->e_shoff, count * sizeof *sections);
    for (size_t k = 0; sections && k < count; k++) {
        bool all = sections[k].sh_type == SHT_SYMTAB, some = sections[k].sh_type == SHT_DYNSYM;
        if ((all || (some && !object->symbols)) && sections[k].sh_link < count) {
            object->symbols = part(object, sections[k].sh_offset, sections[k].sh_size);
            object->count = sections[k].sh_size / sizeof *object->symbols;
            object->names = texts(object, &sections[sections[k].sh_link]);
            object->name_bytes = sections[sections[k].sh_link].sh_size;
        }
    }
    return object->symbols && object->names;
}

static const char *name_of(const struct object *object, const ElfW(Sym) *symbol) {
    bool function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
    return function && symbol->st_name < object->name_bytes ? object->names + symbol->st_name : "";
}

static bool has(const struct object *object, const char *name) {
    for (size_t k = 0; k < object->count; k++) {
        if (!strcmp(name_of(object, &object->symbols[k]), name)) {
            return true;
        }
    }
    return false;
}

// The version of the runtime in an object, by functions that it alone has; 0: none, or before 11.
static int version_of(const struct object *object) {
    if (!has(object, "__cudaRegisterFatBinary") ||
        !has(object, "cudaCtxResetPersistingL2Cache")) {
        return 0;
    }
    if (has(object, "cudaGetDeviceProperties_v2")) {
        return 12;
    }
    if (has(object, "cudaBindTexture")) {
        return 11;
    }
    return 13;
}

__attribute__((noreturn)) static void give_up(const char *what, const char *why) {
    dprintf(STDERR_FILENO, "lockstep: %s: %s\n", what, why);
    _exit(127);
}

// The folder of the replacements, with its '/': that of this library.
static const char *folder(int *length) {
    Dl_info here;
    dladdr((const void *)targets, &here);
    const char *end = strrchr(here.dli_fname, '/');
    *length = end ? (int)(end + 1 - here.dli_fname) : 0;
    return here.dli_fname;
}

static void *replacement(int version) {
    int length;
    char path[4096];
    const char *start = folder(&length);
    snprintf(path, sizeof path, "%.*s%s", length, start, libraries[version]);
    return dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
}

// Threads may come here together, and find the same.
__attribute__((used)) static void *find_target(size_t index) {
    size_t version = index / MOST_NAMES, function = index % MOST_NAMES;
    void *library = replacement((int)version);
    void *found = library ? dlsym(library, names[version][function]) : NULL;
    if (!found) {
        give_up("the CUDA runtime in the program cannot be replaced", dlerror());
    }
    targets[version][function] = found;
    return found;
}

static void protect(const struct object *object, int protection) {
    const ElfW(Ehdr) *head = (const void *)object->file;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const ElfW(Phdr) *segments = part(object, head->e_phoff, head->e_phnum * sizeof *segments);
    for (size_t k = 0; segments && k < head->e_phnum; k++) {
        if (segments[k].p_type == PT_LOAD && segments[k].p_flags & PF_X) {
            uintptr_t from = (object->base + segments[k].p_vaddr) & ~(page - 1);
            uintptr_t to = object->base + segments[k].p_vaddr + segments[k].p_memsz;
            if (mprotect((void *)from, to - from, protection)) {
                give_up("the CUDA runtime in the program cannot be replaced", strerror(errno));
            }
        }
    }
}

static int compare(const void *name, const void *one) {
    return strcmp(name, *(const char *const *)one);
}

// Functions that are shorter than a jump are left: they go on to one of the others.
static void replace(const struct object *object, int version) {
    size_t row = (size_t)(version - OLDEST);
    protect(object, PROT_READ | PROT_WRITE);
    for (size_t k = 0; k < object->count; k++) {
        const ElfW(Sym) *symbol = &object->symbols[k];
        const char *name = name_of(object, symbol);
        const char *const *found =
            bsearch(name, names[row], name_counts[row], sizeof *names[row], compare);
        if (found && symbol->st_size >= JUMP) {
            uint32_t index = (uint32_t)(row * MOST_NAMES + (size_t)(found - names[row]));
            write_jump((unsigned char *)(object->base + symbol->st_value), index);
        }
    }
    protect(object, PROT_READ | PROT_EXEC);
}

static void look_at(const struct link_map *map) {
    int length;
    const char *ours = folder(&length);
    if (!strncmp(map->l_name, ours, (size_t)length)) {
        return; // a replacement
    }
    int file = open(map->l_name[0] ? map->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0) {
        return; // the kernel's own object has no file
    }
    bool whole = !fstat(file, &about) && about.st_size > 0;
    struct object object = {.bytes = whole ? (size_t)about.st_size : 0, .base = map->l_addr};
    void *content = mmap(NULL, object.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (content == MAP_FAILED) {
        return;
    }
    object.file = content;
    int version = find_functions(&object) ? version_of(&object) : 0;
    if (version) {
        replace(&object, version);
    }
    munmap(content, object.bytes);
}

// The version of the interface for such libraries ("rtld-audit" in the Linux manual).
API unsigned la_version(unsigned newest) {
    return newest < LAV_CURRENT ? newest : LAV_CURRENT;
}

// An object is in memory, and nothing of it has run.
API unsigned la_objopen(struct link_map *object, Lmid_t space, uintptr_t *cookie) {
    (void)cookie;
    if (space == LM_ID_BASE) {
        look_at(object);
    }
    return 0; // its calls are not followed
}
