/* A template: a Python interpreter that has started as for any program and waits where it would open the
 * program's file. Cases are forked from it and go on from there.
 *
 * This library is loaded before the interpreter (LD_PRELOAD). It replaces fopen, with which every CPython
 * opens the script, and uses nothing else of the interpreter than its C API.
 *
 *   box ── exec ─▶ base template ─ fork ─▶ template with modules imported
 *                      │ clone: same memory, fresh PID namespace
 *                      ▼
 *                  supervisor (pid 1) ─ fork ─▶ case (pid 2): gives up its rights, reads the program
 *
 * A template reads nothing of a program: only names of modules, of the interpreter's own installation. The
 * supervisor runs in the template's memory while the template is suspended, as after vfork.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../child.h"
#include "../clone.h"
#include "../template.h"

enum {
    CODE_AT = 4, HEADER = 16,     /* in a case: its code, which follows the header of a .pyc file */
    MOST_OPEN = 1024              /* descriptors that are looked for */
};

struct box box;
static struct sock_filter filter[FILTER_CAP];
static char script[SCRIPT_CAP], prelude[PRELUDE_CAP];
static union { struct template_setup setup; struct template_call call; char bytes[MESSAGE_CAP]; } message;
static int fds[MAX_FDS], nfds;
static char supervisor_stack[STACK] __attribute__((aligned(64)));
static void *case_starts[5];
static struct run run;
static struct template_event event;
static int runs; /* this is a case, and no template any more */

/* ---- the interpreter, by its C API ------------------------------------------------------------ */

typedef struct object object;
#define API(name, result, ...) static result (*name)(__VA_ARGS__);
#define FUNCTIONS \
    API(PyBytes_AsString, char *, object *) \
    API(PyBytes_Size, ssize_t, object *) \
    API(PyDict_DelItemString, int, object *, const char *) \
    API(PyErr_Clear, void, void) \
    API(PyErr_ExceptionMatches, int, object *) \
    API(PyErr_Fetch, void, object **, object **, object **) \
    API(PyErr_NormalizeException, void, object **, object **, object **) \
    API(PyErr_Occurred, object *, void) \
    API(PyErr_Print, void, void) \
    API(PyErr_Restore, void, object *, object *, object *) \
    API(PyEval_EvalCode, object *, object *, object *, object *) \
    API(PyGILState_Ensure, int, void) \
    API(PyGILState_Release, void, int) \
    API(PyImport_AddModule, object *, const char *) \
    API(PyList_GetItem, object *, object *, ssize_t) \
    API(PyList_Size, ssize_t, object *) \
    API(PyLong_AsLong, long, object *) \
    API(PyMarshal_ReadObjectFromString, object *, const char *, ssize_t) \
    API(PyModule_GetDict, object *, object *) \
    API(PyOS_AfterFork_Child, void, void) \
    API(PyOS_AfterFork_Parent, void, void) \
    API(PyOS_BeforeFork, void, void) \
    API(PyObject_CallMethod, object *, object *, const char *, const char *, ...) \
    API(PyObject_CallObject, object *, object *, object *) \
    API(PyObject_GetAttrString, object *, object *, const char *) \
    API(PyObject_IsTrue, int, object *) \
    API(PyObject_Type, object *, object *) \
    API(PyRun_SimpleString, int, const char *) \
    API(PySys_GetObject, object *, const char *) \
    API(PySys_SetObject, int, const char *, object *) \
    API(PyType_GetSlot, void *, void *, int) \
    API(PyType_IsSubtype, int, object *, object *) \
    API(Py_DecRef, void, object *) \
    API(Py_Exit, void, int) \
    API(Py_FinalizeEx, int, void) \
    API(Py_IncRef, void, object *)
FUNCTIONS
static object **PyExc_SystemExit, **PyExc_KeyboardInterrupt, *PyLong_Type, *none;

static int find_python(void) {
#undef API
#define API(name, result, ...) {#name, (void **)&name},
    const struct { const char *name; void **into; } wanted[] = {
        FUNCTIONS
        {"PyExc_SystemExit", (void **)&PyExc_SystemExit},
        {"PyExc_KeyboardInterrupt", (void **)&PyExc_KeyboardInterrupt},
        {"PyLong_Type", (void **)&PyLong_Type}, {"_Py_NoneStruct", (void **)&none}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*wanted[i].into = dlsym(RTLD_DEFAULT, wanted[i].name))) return 0;
    return 1;
}

/* ---- before and after a program, in Python (prelude.py) -------------------------------------- */

static object *begin, *imports, *ready, *finish, *unfreeze, *get_objects; /* left in `sys` by the prelude */
static object *excepthook, *gettrace, *getprofile; /* as they were at the start */
static object *first; /* an object of the program that was made before it began */
static void **classes; /* those whose objects this template has, without a `__del__` */
static size_t nclasses;

static object *main_names(void) {
    object *main = PyImport_AddModule("__main__"), *names = main ? PyModule_GetDict(main) : NULL;
    PyErr_Clear();
    return names;
}

static int add_classes(object *addresses) {
    ssize_t size = addresses ? PyBytes_Size(addresses) : -1;
    void **more = size < 0 ? NULL : realloc(classes, nclasses * sizeof *classes + size + 1);
    if (!more) return -1;
    memcpy((classes = more) + nclasses, PyBytes_AsString(addresses), size);
    nclasses += size / sizeof *classes;
    Py_DecRef(addresses);
    return 0;
}

/* Whether the program has given one of them a `__del__`. They exist still: their objects are frozen. */
static int has_new_del(void) {
    enum { TP_FINALIZE = 80 };
    for (size_t i = 0; i < nclasses; i++)
        if (PyType_GetSlot(classes[i], TP_FINALIZE)) return 1;
    return 0;
}

static int asked; /* an import has asked for what is another one in the program's process */

/* Run the prelude, which leaves its functions in `sys`, and between them the imports, with nothing else on
 * the stack, as in a program. Return 0, or -1 when something has failed. */
static int run_prelude(void) {
    static const struct { const char *name; object **into; int stays; } functions[] = {
        {"gradebox_begin", &begin, 0}, {"gradebox_imports", &imports, 0}, {"gradebox_ready", &ready, 0},
        {"gradebox_finish", &finish, 0}, {"gradebox_unfreeze", &unfreeze, 0}, {"gradebox_objects", &get_objects, 0},
        {"excepthook", &excepthook, 1}, {"gettrace", &gettrace, 1}, {"getprofile", &getprofile, 1}};
    object *names = main_names();
    if (!names || PyRun_SimpleString(prelude)) return -1;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        object **into = functions[i].into;
        if (!(*into = PySys_GetObject(functions[i].name))) return -1;
        Py_IncRef(*into);
        if (!functions[i].stays) PySys_SetObject(functions[i].name, NULL);
    }
    asked = 0;
    if (imports != none && (chdir("/box/work") || !PyObject_CallObject(begin, NULL) ||
                            !PyEval_EvalCode(imports, names, names) || asked || chdir("/"))) return -1;
    Py_DecRef(imports);
    int failed = add_classes(PyObject_CallObject(ready, NULL));
    Py_DecRef(ready);
    return failed;
}

/* ---- running the program --------------------------------------------------------------------- */

static int ends_itself; /* the interpreter's own end is needed: something may happen in it */

/* Whether the program has called gc.freeze, which hides its objects from its end. */
static int has_frozen(void) {
    object *objects = first ? PyObject_CallObject(get_objects, NULL) : NULL;
    ssize_t n = objects ? PyList_Size(objects) : 0, i = 0;
    while (i < n && PyList_GetItem(objects, i) != first) i++;
    Py_DecRef(objects);
    return objects && i == n;
}

/* Let the interpreter's end find all objects, those of the template included. */
static void let_it_end_itself(void) {
    object *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (!has_frozen()) Py_DecRef(PyObject_CallObject(unfreeze, NULL));
    PyErr_Restore(kind, value, trace);
    ends_itself = 1;
}

static void flush(const char *name) {
    object *stream = PySys_GetObject(name), *kind, *value, *trace;
    if (!stream) return;
    PyErr_Fetch(&kind, &value, &trace);
    Py_IncRef(stream);
    Py_DecRef(PyObject_CallMethod(stream, "flush", NULL));
    Py_DecRef(stream);
    PyErr_Clear();
    PyErr_Restore(kind, value, trace);
}

/* Return whether the program ended with SystemExit and a plain exit status. */
static int exits(int *status) {
    object *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    object *own = PyObject_Type(value), *code = NULL, *type = NULL;
    if (own == *PyExc_SystemExit && (code = PyObject_GetAttrString(value, "code"))) type = PyObject_Type(code);
    int plain = code == none || (type && PyType_IsSubtype(type, PyLong_Type));
    *status = 0;
    if (plain && code != none) *status = PyLong_AsLong(code), plain = !PyErr_Occurred();
    if (plain) {
        Py_DecRef(kind), Py_DecRef(value), Py_DecRef(trace);
    } else PyErr_Restore(kind, value, trace);
    Py_DecRef(own), Py_DecRef(code), Py_DecRef(type);
    return plain;
}

static void forget_file(void) {
    object *names = main_names();
    if (!names) return;
    if (PyDict_DelItemString(names, "__file__")) PyErr_Clear();
    if (PyDict_DelItemString(names, "__cached__")) PyErr_Clear();
}

/* Report the exception that ended the program as the interpreter does. Return its exit status. */
static int report_exception(void) {
    int status = 1, interrupted = PyErr_Occurred() == *PyExc_KeyboardInterrupt;
    if (PyErr_ExceptionMatches(*PyExc_SystemExit)) {
        if (exits(&status)) return status;
        let_it_end_itself();
    } else if (interrupted || PySys_GetObject("excepthook") != excepthook) let_it_end_itself();
    PyErr_Print(); /* a SystemExit ends the process */
    if (interrupted) {
        forget_file();
        Py_FinalizeEx();
        signal(SIGINT, SIG_DFL);
        kill(getpid(), SIGINT);
        exit(128 + SIGINT);
    }
    return 1;
}

static int is_none(object *function) {
    object *result = PyObject_CallObject(function, NULL);
    Py_DecRef(result);
    return result == none;
}

/* Run the compiled program as `__main__`, as the interpreter runs a script, and exit. Its objects are taken
 * down one by one only where that can be noticed: the pages of a template would all be copied for it. */
static void run_program(void) {
    struct stat s;
    char *bytes = fstat(CODE_AT, &s) ? NULL : malloc(s.st_size);
    if (!bytes || s.st_size < HEADER || pread(CODE_AT, bytes, s.st_size, 0) != s.st_size) _exit(125);
    close(CODE_AT);
    object *names = main_names();
    object *code = PyMarshal_ReadObjectFromString(bytes + HEADER, s.st_size - HEADER);
    free(bytes);
    if (!code || !(first = PyObject_CallObject(begin, NULL))) _exit(125);
    Py_IncRef(names);
    object *result = PyEval_EvalCode(code, names, names);
    flush("stderr"), flush("stdout");
    Py_DecRef(code), Py_DecRef(names); /* its names may now be freed whenever the interpreter frees them */
    int exited = !result && PyErr_ExceptionMatches(*PyExc_SystemExit);
    int status = result ? 0 : report_exception();
    Py_DecRef(result);
    if (!exited) forget_file();
    if (!ends_itself && !has_frozen() && is_none(gettrace) && is_none(getprofile)) {
        result = PyObject_CallObject(finish, NULL);
        if (result && PyObject_IsTrue(result) > 0 && !has_new_del()) exit(status);
        Py_DecRef(result);
        PyErr_Clear();
    }
    if (!ends_itself) let_it_end_itself();
    Py_Exit(status);
}

/* ---- messages -------------------------------------------------------------------------------- */

static ssize_t receive(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v = {&message, sizeof message - 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    do n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    nfds = h ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    if (nfds) memcpy(fds, CMSG_DATA(h), nfds * sizeof(int));
    static ssize_t length; /* of the message before: a case must not find that of another case */
    if (n >= 0 && n < length) memset(message.bytes + n, 0, length - n);
    if (n >= 0) message.bytes[length = n] = 0;
    return n;
}

static void send_event(uint32_t kind, int err) {
    event.kind = kind;
    event.err = err;
    while (send(SOCKET, &event, sizeof event, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

static void close_passed(void) {
    for (int i = 0; i < nfds; i++) close(fds[i]);
    nfds = 0;
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t cpu_ns(const struct rusage *u) {
    return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000LL +
           (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000LL;
}

static void name_self(char *into) {
    ssize_t n = readlinkat(PROC_FD, "self", into, 15);
    into[n > 0 ? n : 0] = 0;
}

/* ---- what a template is ---------------------------------------------------------------------- */

static int64_t status_field(const char *text, const char *key) {
    const char *p = strstr(text, key);
    return p ? strtoll(p + strlen(key), NULL, 10) : -1;
}

static ssize_t read_own(const char *path, char *text, size_t size) {
    int fd = openat(PROC_FD, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 0, more;
    while (fd >= 0 && (size_t)n < size - 1 && (more = read(fd, text + n, size - 1 - n)) > 0) n += more;
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* Whether cases may be forked from this process: it has one thread, no children, no memory that a case would
 * share with it, and no descriptors but its own. Its memory goes into the event. */
static int may_fork(void) {
    static char text[256 * 1024];
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) {}
    if (!pid) return 0;
    if (read_own("self/status", text, sizeof text) <= 0) return 0;
    event.anon = status_field(text, "RssAnon:") * 1024;
    event.file = status_field(text, "RssFile:") * 1024;
    if (status_field(text, "Threads:") != 1) return 0;
    ssize_t n = read_own("self/maps", text, sizeof text);
    if (n <= 0 || n >= (ssize_t)sizeof text - 1) return 0;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line += !!line) {
        char *modes = strchr(line, ' ');
        if (modes && modes[2] == 'w' && modes[4] == 's') return 0;
    }
    for (int fd = PROC_FD + 1; fd < MOST_OPEN; fd++)
        if (fcntl(fd, F_GETFD) >= 0) return 0;
    return 1;
}

/* Report that cases may be forked from here, or why not. `failed`: its prelude raised an exception. */
static void report_ready(int failed) {
    memset(&event, 0, sizeof event);
    name_self(event.pid);
    send_event(READY, failed ? EINVAL : may_fork() ? 0 : EBUSY);
}

/* Fork another template, as a child of the box, which ends it. In it, fds are its socket and the names of the
 * modules. What they start becomes its child. */
static void hold(void) {
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (!pid && fork()) _exit(0);
    if (pid) {
        int err = pid < 0 ? errno : 0;
        if (!err) waitpid(pid, NULL, 0); /* before the box goes on: it would count as a process of a run */
        PyOS_AfterFork_Parent();
        send_event(HELD, err);
        return;
    }
    PyOS_AfterFork_Child();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int bad = dup2(fds[0], SOCKET) < 0 || dup2(fds[1], NAMES_FD) < 0;
    for (int i = 0; i < nfds; i++)
        if (fds[i] != NAMES_FD) close(fds[i]);
    nfds = 0;
    bad = bad || run_prelude();
    close(NAMES_FD);
    report_ready(bad);
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void begin_case(void) { /* in the case; the template's own frames are below this stack */
    if (box.mem_fd >= 0) { /* let the kernel end it before the template when memory is short */
        prctl(PR_SET_DUMPABLE, 1);
        int fd = openat(PROC_FD, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (fd >= 0 && write(fd, "500", 3) == 3) errno = 0;
        if (fd >= 0) close(fd);
    }
    name_self(event.pid);
    int coded = !!message.call.coded;
    int bad = chdir("/box/work") || become_run(&run) || prctl(PR_SET_DUMPABLE, 1) ||
              (coded && dup2(fds[CASE_STREAMS], CODE_AT) < 0) || syscall(SYS_close_range, CODE_AT + coded, ~0U, 0);
    send_event(STARTED, bad ? errno ? errno : EIO : 0);
    if (bad) _exit(127);
    close(SOCKET);
    __builtin_longjmp(case_starts, 1);
}

static int supervise(void *unused) { /* pid 1 of the case's namespace */
    sigset_t all;
    struct rusage used = {0}; /* not what the run before has used */
    int status = 0;
    (void)unused;
    /* The interpreter's handlers must not run here, in the template's memory. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    name_self(event.supervisor);
    pid_t program = fork(), pid;
    if (!program) begin_case();
    close(fds[1]); /* of the template as well: the case's end of it is the only one */
    fds[1] = -1;
    if (program < 0) {
        send_event(STARTED, errno);
        _exit(0);
    }
    while ((pid = wait4(-1, &status, __WALL, &used)) != program)
        if (pid < 0 && errno != EINTR) break;
    event.end_ns = clock_ns(CLOCK_MONOTONIC);
    event.wstatus = status;
    event.peak_rss = used.ru_maxrss * 1024;
    event.cpu_ns = cpu_ns(&used);
    kill(-1, SIGKILL); /* nothing of the run may outlive it */
    while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {}
    event.supervisor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    _exit(0);
}

/* Fork a case. Return 1 in it, 0 in the template once the case has ended and its supervisor is waited for:
 * it would count as a process of the next run. */
static int start_case(void) {
    int status;
    memset(&event, 0, sizeof event);
    run.rq = &message.call.rq;
    box.resident = message.call.resident;
    run.in_fd = fds[0], run.out_fd = fds[1], run.err_pipe[1] = fds[2];
    syscall(SYS_sched_setaffinity, 0, sizeof message.call.cores, &message.call.cores);
    PyOS_BeforeFork();
    if (__builtin_setjmp(case_starts)) {
        PyOS_AfterFork_Child();
        return 1;
    }
    int group = message.call.grouped ? fds[CASE_STREAMS + message.call.coded] : -1;
    int flags = CLONE_VM | CLONE_FILES | CLONE_VFORK | CLONE_NEWPID | SIGCHLD;
    pid_t pid = clone_into(group, supervise, supervisor_stack + STACK, flags, NULL);
    int err = pid < 0 ? errno : 0;
    PyOS_AfterFork_Parent();
    if (err) send_event(STARTED, err);
    else if (waitpid(pid, &status, 0) == pid) {
        event.lost = !WIFEXITED(status);
        send_event(ENDED, 0);
    }
    close_passed();
    return 0;
}

/* Serve the box. Returns in a case that has no compiled code, where the interpreter goes on. */
static void serve(void) {
    if (!find_python()) _exit(126);
    int gil = PyGILState_Ensure();
    report_ready(run_prelude());
    for (ssize_t n; (n = receive()) >= (ssize_t)sizeof message.call;) {
        if (message.call.op == HOLD && nfds == 2) hold();
        else if (message.call.op == CASE && nfds >= CASE_STREAMS && start_case()) {
            runs = 1; /* a program may open its own file, as compile() does for the line of an error */
            char *prologue = message.bytes + sizeof message.call;
            if (message.call.prologue_len && PyRun_SimpleString(prologue)) _exit(125);
            if (message.call.coded) run_program();
            let_it_end_itself();
            PyGILState_Release(gil);
            return;
        }
        close_passed();
    }
    _exit(0); /* the box has closed the socket */
}

/* ---- where the interpreter opens the program ------------------------------------------------- */

static FILE *open_file(const char *function, const char *path, const char *mode) {
    FILE *(*open)(const char *, const char *) = dlsym(RTLD_NEXT, function);
    if (!runs && !strcmp(path, script)) serve();
    return open(path, mode); /* a case without compiled code reads and compiles the source itself */
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED FILE *fopen64(const char *path, const char *mode) { return open_file("fopen64", path, mode); }
EXPORTED FILE *fopen(const char *path, const char *mode) { return open_file("fopen", path, mode); }

#define ASK(result, name) EXPORTED result name(void) { return asked = 1, syscall(SYS_##name); }
ASK(pid_t, getpid) ASK(pid_t, getppid) ASK(uid_t, getuid) ASK(uid_t, geteuid) ASK(gid_t, getgid) ASK(gid_t, getegid)

__attribute__((constructor)) static void before_the_interpreter(void) {
    struct template_setup *setup = &message.setup;
    char **to = environ, *rest = message.bytes + sizeof *setup;
    for (char **from = environ; *from; from++)
        if (strncmp(*from, "LD_PRELOAD=", 11)) *to++ = *from;
    *to = NULL;
    close(HOOK_FD);
    prctl(PR_SET_DUMPABLE, 0); /* a case cannot open its memory or descriptors */
    ssize_t n = receive();
    if (n < (ssize_t)sizeof *setup || setup->filter_len > sizeof filter || setup->script_len > SCRIPT_CAP ||
        setup->prelude_len > PRELUDE_CAP ||
        (size_t)n != sizeof *setup + setup->filter_len + setup->script_len + setup->prelude_len) _exit(126);
    box = setup->box;
    memcpy(filter, rest, setup->filter_len);
    memcpy(script, rest += setup->filter_len, setup->script_len);
    memcpy(prelude, rest + setup->script_len, setup->prelude_len);
    box.child_filter = filter;
}
