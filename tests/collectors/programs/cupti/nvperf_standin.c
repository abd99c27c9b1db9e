/* A test double of libnvperf_host.so, which CUPTI loads by the name that it has inside. */
int standin_of_nvperf(void) { return 1; }
