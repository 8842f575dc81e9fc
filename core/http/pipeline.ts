import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import {
  type AuditTrail,
  anonymous,
  type Caller,
  type Callers,
  type Contributions,
  Forbidden,
  Invalid,
  NotFound,
  NotSignedIn,
  type Policy,
} from 'pounce/sdk'
import { Access, requireTerms } from './access.ts'
import { addressOf, bringsCredentials, credentialsOf } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import { HandlerRequest, type Surroundings } from './handler-request.ts'
import { readJson } from './json-body.ts'
import type { Mount } from './mount.ts'
import { MultipartReader } from './multipart-reader.ts'
import { noteAdmin } from './note-admin.ts'
import { refuseOtherOrigins, requireSameOrigin } from './origin.ts'
import type { AnyReply } from './replier.ts'
import { type Checked, isSchema } from './route-checks.ts'
import type { Match } from './route-table.ts'
import { isByteBody, SentBody } from './sent-body.ts'

type Values = Readonly<Record<string, unknown>>

/** What the steps of a request need. */
export interface PipelineOptions extends Surroundings {
  readonly policy: Policy | undefined
  readonly callers: Callers | undefined
  readonly trails: Contributions<AuditTrail> | undefined
  readonly maxJsonBytes: number
}

/** The way of a request through its route: who asks, may they, is the input right, the handler. */
export class Pipeline {
  readonly #options: PipelineOptions
  readonly #access: Access

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#access = new Access(options.policy, options.policy?.isPrivate ?? options.installation.isPrivate)
  }

  /** The handler's answer; throws a `Problem` for what is refused on the way. */
  async run(context: Context, exchange: Exchange, { mount, params: texts }: Match): Promise<AnyReply> {
    const { declaration, checks } = mount
    const address = addressOf(exchange.req.headers, exchange.req.socket.remoteAddress, this.#options.trustedProxies)
    if (declaration.ignoresCredentials) {
      if (isChange(exchange)) refuseOtherOrigins(exchange.req.headers, this.#options.installation.baseUrl)
    } else if (bringsCredentials(exchange)) {
      exchange.caller = await this.#identify(exchange, mount, address)
      this.#requireProperOrigin(exchange, mount)
    }
    const params = checks.params(texts)
    const query = checks.query(exchange.line.query)
    if (params.fault || query.fault) throw await this.#refusal(exchange.caller, mount, params, query)
    const input = declaration.of || declaration.also ? { ...params.value, ...query.value } : params.value
    const pending = this.#access.require(declaration, exchange.caller, input)
    if (pending) await pending
    const body = declaration.body === undefined ? undefined : await this.#body(context, exchange, mount)
    if (exchange.caller.superAdmin || declaration.permission === 'serverAdmin')
      await noteAdmin(this.#options.trails, exchange, mount, { input, address })
    const request = new HandlerRequest(exchange, this.#options, address, { params: params.value, query: query.value, body })
    return declaration.handle(request as never, mount.needs as never)
  }

  async #identify(exchange: Exchange, { isLenient, declaration }: Mount, address: string): Promise<Caller> {
    const { headers } = exchange.req
    const { query, key } = exchange.line
    let hasSession = false
    try {
      if (headers.authorization !== undefined) requireOneAuthorization(exchange.req)
      const credentials = credentialsOf({ headers, query, queryKey: key, address })
      if (!credentials) return anonymous
      hasSession = credentials.session !== undefined
      if (!this.#options.callers) throw new NotSignedIn('This server knows no accounts')
      const caller = await this.#options.callers.identify(credentials)
      requireTerms(declaration, caller)
      return caller
    } catch (error) {
      if (isLenient) return anonymous
      exchange.hasStaleSession = hasSession && error instanceof NotSignedIn
      throw error
    }
  }

  #requireProperOrigin(exchange: Exchange, { declaration }: Mount): void {
    if (exchange.caller.via !== 'session') return
    if (declaration.neverByCookie) throw new Forbidden('A session cookie will not do here: send an API key, or sign in with the request')
    if (isChange(exchange)) requireSameOrigin(exchange.req.headers, this.#options.installation.baseUrl)
  }

  /** A wrong input must not tell more than the caller may know, so rights come first as far as the input names things. */
  async #refusal(caller: Caller, { declaration, group }: Mount, params: Checked<Values>, query: Checked<Values>): Promise<Error> {
    if (params.fault) {
      this.#access.requireForWrongInput(declaration, caller, true)
      return new NotFound(kindOf(declaration, params.fault.idName ?? 'id', { ...params.value, ...query.value }, group))
    }
    const { of, ...rest } = declaration
    const refs = of ? [of({ ...params.value, ...query.value })].flat() : []
    const named = Object.values(params.value)
    // Things named by the path are checked; those named by the wrong query cannot be.
    const known = refs.filter(ref => named.includes(ref.id))
    if (known.length > 0) await this.#access.require({ ...rest, of: () => known, also: [] }, caller, {})
    else this.#access.requireForWrongInput(declaration, caller)
    const { idName, message } = query.fault ?? { message: 'The query is not right' }
    return idName === undefined ? new Invalid(message) : new NotFound(kindOf(declaration, idName, { ...params.value, ...query.value }))
  }

  async #body(context: Context, exchange: Exchange, { declaration, checks }: Mount): Promise<unknown> {
    const { body, maxBodyBytes = this.#options.maxJsonBytes } = declaration
    if (isByteBody(body)) return new SentBody(exchange, body)
    if (!isSchema(body)) return new MultipartReader(exchange, (body as { maxParts?: number }).maxParts ?? 1000)
    const sent = await readJson(context, exchange, maxBodyBytes)
    const { value, fault } = checks.body(sent === undefined ? {} : sent)
    if (fault) throw new Invalid(fault.message)
    return value
  }
}

/** `dataset_id` names a dataset, `space` a space. */
const kindNamed = (parameter: string): string => parameter.replace(/_?id$/i, '') || 'thing'

/** The kind of thing that a parameter names, by what would be checked of it: a wrong id is answered like one that nobody has. */
const kindOf = ({ of, also = [] }: Mount['declaration'], parameter: string, input: Values, group?: string): string => {
  const asked = { ...input, [parameter]: parameter }
  const refs = [of, ...also.map(check => check.of)].flatMap(each => (each ? [each(asked)].flat() : []))
  const kind = refs.find(({ id }) => id === parameter)?.kind
  return kind ?? (parameter === 'id' && group !== undefined ? (refs[0]?.kind ?? group.replace(/s$/, '')) : kindNamed(parameter))
}

const isChange = ({ req: { method } }: Exchange): boolean => method !== 'GET' && method !== 'HEAD'

/** Node keeps the first of several; a proxy in front may have looked at another one. */
const requireOneAuthorization = (req: IncomingMessage): void => {
  if ((req.headersDistinct['authorization']?.length ?? 0) > 1) throw new NotSignedIn('There must be one Authorization header')
}
