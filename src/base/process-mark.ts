import * as z from 'zod';

/** How a process is known again, by itself and by others that find what it left behind. */
export const processMark = {
  host: z.string().meta({ description: 'the machine that runs it', examples: ['ci-7'] }),
  /** No process has another: 0 and less name groups, which seem to run for ever. */
  pid: z
    .int()
    .positive()
    .meta({ description: 'the number of the process', examples: [4711] }),
  /** The boot and the tick at which it started, where the system tells: a process number is used again. */
  started: z
    .string()
    .nullable()
    .meta({ description: 'the boot and the tick at which it started', examples: ['71c9… 4711'] }),
  /** The boot of the machine: host names are used again too. */
  boot: z
    .string()
    .nullable()
    .meta({ description: 'the boot of the machine', examples: ['71c9…'] }),
  /** What its number counts in: each container has process numbers of its own. */
  namespace: z
    .string()
    .nullable()
    .meta({ description: 'what its number counts in, such as a container', examples: ['pid:[4026531836]'] }),
};

const markSchema = z.object(processMark);

export type ProcessMark = z.infer<typeof markSchema>;
