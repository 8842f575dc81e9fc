import {
  type Caller,
  configPort,
  Fetch,
  Forbidden,
  isServerAdmin,
  Problem,
  type SentBytes,
  s,
  Unavailable,
  Unreachable,
  wire,
} from 'pounce/sdk'

const endpointName = s.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' })

const rule = s.Object({
  methods: s.Array(s.Union([s.Literal('GET'), s.Literal('POST'), s.Literal('PUT'), s.Literal('DELETE')]), {
    default: ['GET'],
    minItems: 1,
    uniqueItems: true,
    description: 'HTTP methods to forward',
  }),
  who: s.Union([s.Literal('signedIn'), s.Literal('members'), s.Literal('serverAdmin')], {
    default: 'signedIn',
    description: 'Who may use the service: any signed-in user, members of `space`, or server admins only',
  }),
  space: s.Optional(s.String({ pattern: '^[0-9a-f]{24}$', description: 'With `members`: id of the space' })),
  roles: s.Array(s.String({ minLength: 1, maxLength: 200 }), {
    default: [],
    description: 'With `members`: names of roles in the space, one of which is required; empty: any role',
  }),
})

export const config = s.Object({
  endpoints: s.Record(endpointName, s.String({ maxLength: 2000 }), {
    default: {},
    secret: true,
    description:
      'Services by name, such as `{"geoserver": "http://user:password@10.0.0.7:8080/geoserver"}`; private networks are allowed (`clowder.proxy.<name>` of Clowder 1.x)',
  }),
  rules: s.Record(endpointName, rule, {
    default: {},
    description: 'Access rules by service name; without a rule any signed-in user may GET',
  }),
  maxRequestMiB: s.Integer({
    default: 1024,
    minimum: 0,
    maximum: 1_048_576,
    description: 'Maximum size of a forwarded request body, in MiB',
  }),
  maxAnswerMiB: s.Integer({ default: 1024, minimum: 0, maximum: 1_048_576, description: 'Maximum size of a response body, in MiB' }),
  timeoutSeconds: s.Integer({ default: 3600, minimum: 1, maximum: 86_400, description: 'Maximum duration of a request, in seconds' }),
  silenceSeconds: s.Integer({
    default: 60,
    minimum: 1,
    maximum: 86_400,
    description: 'Timeout for a silent service, in seconds',
  }),
})
const Config = configPort(config)

type Rule = s.Static<typeof rule>

const defaultRule: Rule = { methods: ['GET'], who: 'signedIn', roles: [] }

const mebibyte = 1024 * 1024

/** A request to a service. */
export interface ProxiedRequest {
  readonly key: string
  /** Below the service's URL, as sent: empty, or beginning with a slash. */
  readonly path: string
  /** Including the question mark, without keys of this server. */
  readonly search: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: SentBytes
  readonly signal: AbortSignal
}

/** Services by name, each a URL prefix that no request can escape. */
export class FixedEndpoints {
  #settings: s.Static<typeof config>
  #fetch: Fetch

  constructor(settings: s.Static<typeof config>, fetch: Fetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  /** Refuses invalid URLs, URLs with a query, and rules without a service or space. */
  start(): void {
    const { endpoints, rules } = this.#settings
    for (const [name, { who, space }] of Object.entries(rules)) {
      if (!Object.hasOwn(endpoints, name))
        throw new Error(`resources.proxy.rules.${name}: unknown service; not in resources.proxy.endpoints`)
      if (who === 'members' && space === undefined) throw new Error(`resources.proxy.rules.${name}.space is required if who is members`)
    }
    for (const [key, address] of Object.entries(endpoints)) {
      const url = URL.canParse(address) ? new URL(address) : undefined
      const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
      if (!isWeb || url.search !== '' || url.hash !== '')
        throw new Error(`resources.proxy.endpoints.${key} must be an http or https URL without a query`)
    }
  }

  /** Throws `Forbidden` for a caller who may not use the service, and a `Problem` with status 405 for a method that it does not accept. */
  requireAccess(key: string, method: string, caller: Caller): void {
    const { endpoints, rules } = this.#settings
    if (!Object.hasOwn(endpoints, key)) throw unknown(key)
    const { methods, who, space, roles } = (Object.hasOwn(rules, key) && rules[key]) || defaultRule
    const isMember = caller.user?.memberships.some(
      held => held.space === space && (roles.length === 0 || roles.includes(held.roleName ?? '')),
    )
    const isReached = caller.limits?.spaces === undefined || (space !== undefined && caller.limits.spaces.has(space))
    if (who === 'members' && !isServerAdmin(caller) && !(isMember && isReached))
      throw new Forbidden(`The service ${key} is for members of a space${roles.length === 0 ? '' : ` with the role ${roles.join(' or ')}`}`)
    if (who === 'serverAdmin' && !isServerAdmin(caller)) throw new Forbidden(`The service ${key} is for server admins`)
    if (!methods.some(allowed => allowed === method))
      throw new Problem(
        405,
        'method-not-allowed',
        `The service ${key} allows only ${methods.join(', ')} (resources.proxy.rules.${key}.methods)`,
      )
  }

  /** 404 for a name that is not configured; throws `Unavailable` while the service does not respond. */
  async send({ key, path, search, method, headers, body, signal }: ProxiedRequest): ReturnType<Fetch['below']> {
    const { endpoints, maxRequestMiB, maxAnswerMiB, timeoutSeconds, silenceSeconds } = this.#settings
    const server = Object.hasOwn(endpoints, key) ? endpoints[key] : undefined
    if (server === undefined) throw unknown(key)
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
      if (error instanceof Unreachable) throw new Unavailable(`The service ${key} does not respond`, { cause: error })
      throw error
    }
  }
}
wire(FixedEndpoints, Config, Fetch)
const unknown = (key: string): Problem => new Problem(404, 'not-found', `Not found: ${key}`)

const sizeOf = ({ sizeBytes }: SentBytes) => (sizeBytes === undefined ? {} : { sizeBytes })
