import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  socket: s.String({
    default: '/run/clamav/clamd.ctl',
    minLength: 1,
    description: 'Address of clamd: the path of its Unix socket, or `tcp://host:3310`',
  }),
  maxScanMiB: s.Integer({
    default: 25,
    minimum: 1,
    maximum: 4000,
    description:
      'Maximum size of a scanned file, in MiB: not above StreamMaxLength, MaxFileSize and MaxScanSize of clamd, which should be equal',
  }),
  largerFiles: s.Union([s.Literal('allow'), s.Literal('quarantine')], {
    default: 'allow',
    description: 'Larger files: `allow` makes them available without a scan, `quarantine` keeps them until an admin releases them',
  }),
  maxConnections: s.Integer({
    default: 4,
    minimum: 1,
    maximum: 64,
    description: 'Maximum number of concurrent scans; clamd has its own MaxThreads',
  }),
  connectTimeoutMs: s.Integer({
    default: 5000,
    minimum: 50,
    description: 'Timeout for connecting to clamd and for its response to PING, in milliseconds',
  }),
  scanTimeoutMs: s.Integer({
    default: 240_000,
    minimum: 50,
    maximum: 280_000,
    description: 'Timeout of one scan, transfer included, in milliseconds',
  }),
})
export type ClamavConfig = s.Static<typeof config>
export const Config = configPort(config)
