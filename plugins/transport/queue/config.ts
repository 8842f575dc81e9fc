import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  concurrency: s.Optional(
    s.Integer({ minimum: 1, maximum: 256, description: 'Extractors that run at once; one less than the processor cores unless said' }),
  ),
  runsPerProcess: s.Integer({ default: 100, minimum: 1, description: 'Runs after which an extractor process is replaced by a new one' }),
  idleMs: s.Integer({ default: 30_000, minimum: 0, description: 'Milliseconds after which an idle extractor process is ended' }),
  nativeMemoryMb: s.Integer({
    default: 1024,
    minimum: 64,
    description: 'MiB that a run may hold beyond its JavaScript heap, in buffers and native libraries (Linux only)',
  }),
  maxSpoolBytes: s.Integer({
    default: 100 * 2 ** 30,
    minimum: 1,
    description: 'Largest input copied to a temporary file when the byte store keeps no files; larger ones fail',
  }),
  maxOutputBytes: s.Integer({
    default: 2 * 2 ** 30,
    minimum: 1,
    description: 'Most bytes of preview and thumbnail files of one run together',
  }),
  retryDelayMs: s.Integer({ default: 5000, minimum: 1, description: 'Milliseconds before a second attempt; doubled for each further one' }),
  leaseMs: s.Integer({ default: 60_000, minimum: 300, description: 'Milliseconds of silence after which another worker takes a job over' }),
  pollMs: s.Integer({ default: 2000, minimum: 10, description: 'Milliseconds between looks for jobs that other kernels published' }),
})
export type QueueConfig = s.Static<typeof config>
export const Config = configPort(config)
