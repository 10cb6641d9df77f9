// Loaded before a measured program: writes down at its end what it took, since nobody else is told the memory of a process that is gone.
const { writeFileSync } = require('node:fs');

const file = process.env.BENCH_PEAK;
if (file !== undefined) {
  process.once('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ rss: maxRSS / 1024, cpu: (userCPUTime + systemCPUTime) / 1000 }));
  });
}
