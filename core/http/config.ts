import { s } from 'pounce/sdk'
import type { CostClass } from 'pounce/sdk/kit'

interface Limits {
  readonly maxConcurrent: number
  readonly maxPerMinute: number
}

const limits = (unit: string, { maxConcurrent, maxPerMinute }: Limits) =>
  s.Object(
    {
      maxConcurrent: s.Integer({
        default: maxConcurrent,
        minimum: 1,
        description: 'Maximum number of concurrent requests; further ones wait',
      }),
      maxPerMinute: s.Integer({
        default: maxPerMinute,
        minimum: 1,
        description: `${unit} per minute; unused budget accumulates for one minute`,
      }),
    },
    { default: {} },
  )

const budget = (work: string, unit: string, account: Limits, anonymous: Limits) =>
  s.Object({ account: limits(unit, account), anonymous: limits(unit, anonymous) }, { default: {}, description: work })

const seconds = "Seconds of the server's time before the first byte of the response"
const requests = 'Requests'

/** Budgets of each kind of expensive work per caller, under `http.budgets`. */
const budgetConfig = s.Object(
  {
    maxWaiting: s.Integer({ default: 256, minimum: 0, description: 'Maximum number of waiting requests of one caller, per kind of work' }),
    maxWaitMs: s.Integer({ default: 10_000, minimum: 0, description: 'Maximum waiting time of a request, in milliseconds' }),
    freeMs: s.Integer({
      default: 100,
      minimum: 0,
      description: 'Free milliseconds per request for budgets in seconds, so that small requests are free',
    }),
    smallMetadataBytes: s.Integer({
      default: 65_536,
      minimum: 0,
      description: 'Maximum size of metadata written without a budget, in bytes',
    }),
    maxCallers: s.Integer({
      default: 10_000,
      minimum: 100,
      description: 'Maximum number of callers to track; the least recently seen is evicted first',
    }),
    search: budget('Searches and suggestions', seconds, { maxConcurrent: 8, maxPerMinute: 40 }, { maxConcurrent: 4, maxPerMinute: 20 }),
    archive: budget('Downloads as zip or bag', seconds, { maxConcurrent: 16, maxPerMinute: 40 }, { maxConcurrent: 8, maxPerMinute: 20 }),
    import: budget('Imports of bags', requests, { maxConcurrent: 4, maxPerMinute: 600 }, { maxConcurrent: 1, maxPerMinute: 10 }),
    export: budget(
      'Full exports: CSV, JSON, GeoJSON, reports',
      seconds,
      { maxConcurrent: 8, maxPerMinute: 40 },
      { maxConcurrent: 4, maxPerMinute: 20 },
    ),
    fetch: budget(
      'Requests to other servers: uploads by URL, the proxy',
      requests,
      { maxConcurrent: 16, maxPerMinute: 3000 },
      { maxConcurrent: 4, maxPerMinute: 120 },
    ),
    expand: budget(
      'SensorThings queries with nested results',
      seconds,
      { maxConcurrent: 4, maxPerMinute: 40 },
      { maxConcurrent: 2, maxPerMinute: 20 },
    ),
    metadata: budget(
      'Metadata above `smallMetadataBytes`, and registrations of extractors',
      seconds,
      { maxConcurrent: 4, maxPerMinute: 40 },
      { maxConcurrent: 1, maxPerMinute: 10 },
    ),
  } satisfies Record<CostClass, unknown> & Record<string, unknown>,
  { default: {}, description: 'Rate limits of expensive work, per account and, for anonymous callers, per address' },
)

/** Validated budget settings. */
export type BudgetConfig = s.Static<typeof budgetConfig>

/** HTTP settings, under `http`. */
export const httpConfig = s.Object(
  {
    host: s.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` for all interfaces' }),
    port: s.Integer({ default: 9000, minimum: 0, maximum: 65_535, description: 'Port to listen on; 0 picks a free port' }),
    trustedProxies: s.Union(
      [s.Integer({ minimum: 0, maximum: 10 }), s.Array(s.String({ minLength: 2, maxLength: 50 }), { maxItems: 100 })],
      {
        default: 0,
        description:
          'Trusted reverse proxies: their number, or a list of their addresses and networks (`10.0.0.0/24`); the client address is then read from `X-Forwarded-For`. Sign-in through proxy headers requires the list',
      },
    ),
    allowedOrigins: s.Array(s.String(), {
      default: [],
      description: 'CORS: origins that may call the API from a browser; `*` for all (never with cookies)',
    }),
    allowedHosts: s.Array(s.String({ minLength: 1, maxLength: 253 }), {
      default: [],
      description:
        'Accepted `Host` headers besides the host of `http.baseUrl`, IP addresses and names without a dot; `*` for all. Others get 421',
    }),
    maxConnections: s.Integer({ default: 10_000, minimum: 1, description: 'Maximum number of open connections; more are refused' }),
    maxConnectionsPerAddress: s.Integer({
      default: 2500,
      minimum: 1,
      description: 'Maximum number of open connections per address (IPv6: per /64), unless `http.trustedProxies` is set; more get 429',
    }),
    maxJsonBytes: s.Integer({
      default: 1_048_576,
      minimum: 1024,
      description: 'Default maximum size of a JSON body, in bytes',
    }),
    maxAnonymousJsonBytes: s.Integer({
      default: 65_536,
      minimum: 1024,
      description: 'Maximum size of a JSON body of an anonymous caller, in bytes, on any route',
    }),
    maxJsonMembers: s.Integer({
      default: 100_000,
      minimum: 100,
      description: 'Maximum total number of object members in a JSON body, counted before parsing',
    }),
    maxJsonLeaves: s.Integer({
      default: 500_000,
      minimum: 100,
      description: 'Maximum number of leaf values in a JSON body, counted before parsing',
    }),
    largeJson: s.Object(
      {
        bytes: s.Integer({ default: 262_144, minimum: 1024, description: 'Size above which a body counts as large, in bytes' }),
        maxReading: s.Integer({ default: 4, minimum: 1, description: 'Maximum number of large bodies in memory' }),
        maxWorking: s.Integer({ default: 1, minimum: 1, description: 'Maximum number of large bodies parsed and processed concurrently' }),
        maxWaiting: s.Integer({
          default: 256,
          minimum: 0,
          description: 'Maximum number of waiting large bodies; further ones get 503',
        }),
        maxWaitMs: s.Integer({
          default: 20_000,
          minimum: 1,
          description: 'Maximum waiting time of a large body before it gets 503, in milliseconds',
        }),
      },
      { default: {}, description: 'Large JSON bodies, such as 10 MiB of metadata' },
    ),
    headersTimeoutMs: s.Integer({
      default: 30_000,
      minimum: 100,
      description: 'Timeout for receiving the request line and headers, in milliseconds',
    }),
    keepAliveTimeoutMs: s.Integer({
      default: 72_000,
      minimum: 100,
      description: 'Idle timeout of keep-alive connections, in milliseconds',
    }),
    silentTransferMs: s.Integer({
      default: 60_000,
      minimum: 100,
      description:
        'Timeout of a transfer without progress, in milliseconds; then the connection is closed. A response of which the client reads nothing may last up to twice as long',
    }),
    bodyRateWindowMs: s.Integer({
      default: 30_000,
      minimum: 100,
      description: 'Time over which `http.minBodyRate` is measured, in milliseconds',
    }),
    minBodyRate: s.Integer({
      default: 1024,
      minimum: 0,
      description: 'Minimum transfer rate of a request body, in bytes per second; slower requests get 408 and are closed',
    }),
    jsonBodyTimeoutMs: s.Integer({
      default: 30_000,
      minimum: 100,
      description: 'Timeout for receiving a JSON body, in milliseconds per MiB; then 408. Newline-delimited JSON has none',
    }),
    slowRequestMs: s.Integer({
      default: 1000,
      minimum: 1,
      description:
        'Duration above which a request is logged as a warning, in milliseconds; for downloads and long lists, the time to the first byte',
    }),
    compress: s.Boolean({
      default: true,
      description: 'Compress JSON and text responses over 1 kB, including streams, if the client accepts it',
    }),
    budgets: budgetConfig,
    metrics: s.Boolean({ default: false, description: 'Serve Prometheus metrics at `/metrics`' }),
  },
  { default: {}, description: 'HTTP server' },
)

/** Validated HTTP settings. */
export type HttpConfig = s.Static<typeof httpConfig>
