// What the thread sanitizer must not report in tests of storage.

extern "C" const char* __tsan_default_suppressions();

// RocksDB is not instrumented, so that the sanitizer does not see how its threads wait for each
// other: reading a memtable, which takes no lock, looks like a race with whoever writes it.
extern "C" const char* __tsan_default_suppressions() { return "race:librocksdb\n"; }
