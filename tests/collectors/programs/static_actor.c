/* A static program: nothing can be loaded into it. Works until it has used the CPU seconds of its argument. */
#include <stdlib.h>
#include <time.h>

int main(int count, char** words) {
  const double seconds = count > 1 ? atof(words[1]) : 1;
  volatile double sum = 0;
  while ((double)clock() / CLOCKS_PER_SEC < seconds) {
    for (int i = 0; i < 1000; ++i) sum += i;
  }
  return 0;
}
