import { configPort, Fetch, Problem, port, type SentBytes, s, Unavailable, Unreachable, wire } from 'pounce/sdk'

export const config = s.Object({
  endpoints: s.Record(s.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }), s.String({ maxLength: 2000 }), {
    default: {},
    secret: true,
    description:
      'Services by name, such as `{"geoserver": "http://user:password@10.0.0.7:8080/geoserver"}`; they may be in private networks (`clowder.proxy.<name>` of Clowder 1.x)',
  }),
  maxRequestMiB: s.Integer({ default: 1024, minimum: 0, maximum: 1_048_576, description: 'Longest body that is sent on, in MiB' }),
  maxAnswerMiB: s.Integer({ default: 1024, minimum: 0, maximum: 1_048_576, description: 'Longest answer that is sent back, in MiB' }),
  timeoutSeconds: s.Integer({ default: 3600, minimum: 1, maximum: 86_400, description: 'The longest that one request may take' }),
  silenceSeconds: s.Integer({
    default: 60,
    minimum: 1,
    maximum: 86_400,
    description: 'A service from which nothing comes for so long is given up',
  }),
})
const Config = configPort(config)

const mebibyte = 1024 * 1024

/** A request to a service. */
export interface Sent {
  readonly key: string
  /** Below the service's address, as sent: empty, or from its slash on. */
  readonly path: string
  /** With its question mark, without any key of ours. */
  readonly search: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: SentBytes
  readonly signal: AbortSignal
}

/** Services by name, each a prefix that no request leaves. */
export class FixedEndpoints {
  #settings: s.Static<typeof config>
  #fetch: Fetch

  constructor(settings: s.Static<typeof config>, fetch: Fetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  /** Refuses addresses that are none, or end in a query. */
  start(): void {
    for (const [key, address] of Object.entries(this.#settings.endpoints)) {
      const url = URL.canParse(address) ? new URL(address) : undefined
      const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
      if (!isWeb || url.search !== '' || url.hash !== '')
        throw new Error(`resources.proxy.endpoints.${key} must be an http or https address without a query`)
    }
  }

  /** 404 for a name that nobody configured; `Unavailable` while the service is away. */
  async send({ key, path, search, method, headers, body, signal }: Sent): ReturnType<Fetch['below']> {
    const { endpoints, maxRequestMiB, maxAnswerMiB, timeoutSeconds, silenceSeconds } = this.#settings
    const server = Object.hasOwn(endpoints, key) ? endpoints[key] : undefined
    if (server === undefined) throw new Problem(404, 'not-found', `Not found: ${key}`)
    const maxBytes = maxRequestMiB * mebibyte
    try {
      return await this.#fetch.below(
        server,
        { path, search },
        {
          ...{
            method,
            headers,
            signal,
            maxBytes: maxAnswerMiB * mebibyte,
            timeoutMs: timeoutSeconds * 1000,
            silenceMs: silenceSeconds * 1000,
          },
          ...(body?.isPresent ? { body: { stream: body.open(), maxBytes, ...sizeOf(body) } } : {}),
        },
      )
    } catch (error) {
      if (error instanceof Unreachable) throw new Unavailable(`The service ${key} does not answer`, { cause: error })
      throw error
    }
  }
}
wire(FixedEndpoints, Config, Fetch)

export const Endpoints = port<FixedEndpoints>('proxy.endpoints')

const sizeOf = ({ sizeBytes }: SentBytes) => (sizeBytes === undefined ? {} : { sizeBytes })
