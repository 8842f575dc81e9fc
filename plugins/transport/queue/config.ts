import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  concurrency: s.Optional(
    s.Integer({
      minimum: 1,
      maximum: 256,
      description: 'Maximum number of extractors that run concurrently. Default: one less than the processor cores',
    }),
  ),
  sandbox: s.Union([s.Literal('auto'), s.Literal('required'), s.Literal('off')], {
    default: 'auto',
    description:
      "Operating system sandbox of extractor processes, in addition to Node's permission model: `auto` uses the best available and warns if it is incomplete, `required` refuses to start without one, `off` uses none",
  }),
  sandboxUid: s.Integer({
    default: 64_200,
    minimum: 1000,
    maximum: 2 ** 31,
    description: 'First user id for extractor processes, one each, when the server runs as root without bubblewrap',
  }),
  runsPerProcess: s.Integer({
    default: 100,
    minimum: 1,
    description: 'Maximum number of runs of an extractor process before it is replaced',
  }),
  idleMs: s.Integer({ default: 30_000, minimum: 0, description: 'Idle time after which an extractor process is stopped, in milliseconds' }),
  nativeMemoryMb: s.Integer({
    default: 1024,
    minimum: 64,
    description: 'Maximum native memory of a run beyond its JavaScript heap, in MiB (Linux only)',
  }),
  maxSpoolBytes: s.Integer({
    default: 100 * 2 ** 30,
    minimum: 1,
    description:
      'Maximum size of an input that is copied to a temporary file if the blob store has no local files, in bytes; larger inputs fail',
  }),
  maxOutputBytes: s.Integer({
    default: 2 * 2 ** 30,
    minimum: 1,
    description: 'Maximum size of the files that one run may write, and of its previews and thumbnails together, in bytes',
  }),
  retryDelayMs: s.Integer({
    default: 5000,
    minimum: 1,
    description: 'Delay before the second attempt, in milliseconds; doubled for each further one',
  }),
  leaseMs: s.Integer({
    default: 60_000,
    minimum: 300,
    description: 'Lease of a job, in milliseconds; without renewal another worker takes over',
  }),
  pollMs: s.Integer({
    default: 2000,
    minimum: 10,
    description: 'Interval of polling for jobs published by other servers, in milliseconds',
  }),
})
export type QueueConfig = s.Static<typeof config>
export const Config = configPort(config)
