// Preloaded into a measured program: writes its peak memory and processor time at exit, because Node can't read them of an ended process.
const { writeFileSync } = require('node:fs');

const file = process.env.BENCH_PEAK;
if (file !== undefined) {
  process.once('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ rss: maxRSS / 1024, cpu: (userCPUTime + systemCPUTime) / 1000 }));
  });
}
