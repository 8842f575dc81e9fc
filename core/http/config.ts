import { s } from 'pounce/sdk'

/** Settings of the HTTP side, under `http`. */
export const httpConfig = s.Object(
  {
    host: s.String({ default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` for all' }),
    port: s.Integer({ default: 9000, minimum: 0, maximum: 65_535, description: 'Port to listen on; 0 takes a free one' }),
    trustedProxies: s.Integer({
      default: 0,
      minimum: 0,
      maximum: 10,
      description: 'How many reverse proxies stand in front; the caller’s address is then read from `X-Forwarded-For`',
    }),
    allowedOrigins: s.Array(s.String(), {
      default: [],
      description: 'Origins of other sites whose pages may call the API from a browser; `*` for all of them (never with cookies)',
    }),
    maxConnections: s.Integer({ default: 10_000, minimum: 1, description: 'Open connections; more are refused' }),
    maxJsonBytes: s.Integer({
      default: 1_048_576,
      minimum: 1024,
      description: 'Largest JSON body of a route that does not say its own limit',
    }),
    headersTimeoutMs: s.Integer({ default: 30_000, minimum: 100, description: 'Time a client has to send its request line and headers' }),
    keepAliveTimeoutMs: s.Integer({ default: 72_000, minimum: 100, description: 'How long an idle connection is kept' }),
    silentTransferMs: s.Integer({ default: 60_000, minimum: 100, description: 'A transfer in which no byte moves for this long is cut' }),
    slowRequestMs: s.Integer({ default: 1000, minimum: 1, description: 'Requests that take longer are logged as warnings' }),
    compress: s.Boolean({
      default: true,
      description: 'Compress JSON and text answers over 1 kB, also streamed ones, when the client can read it',
    }),
    metrics: s.Boolean({ default: false, description: 'Serve Prometheus measurements at `/metrics`' }),
  },
  { default: {}, description: 'The HTTP server' },
)

/** Checked settings of the HTTP side. */
export type HttpConfig = s.Static<typeof httpConfig>
