import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export type Claims = Readonly<Record<string, unknown>>
/** `none`: unsigned; `public`: signed by HMAC with the public key; `stranger`: signed with another key of the same id. */
export type Signing = 'right' | 'none' | 'public' | 'stranger'
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

interface Grant {
  readonly query: URLSearchParams
  readonly person: Claims
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1000)

/** An OpenID Connect provider on a free port, whose responses a test can alter. Its registered client is `app` / `secret`. */
export class FakeIssuer {
  /** The claims of the next user who signs in. */
  person: Claims = { sub: 'ada', email: 'ada@example.org', email_verified: true, given_name: 'Ada', family_name: 'Lovelace' }
  /** The claims of the userinfo endpoint besides the subject; undefined: there is no such endpoint. */
  userInfo: Claims | undefined
  /** Overrides claims of subsequent ID tokens. */
  spoil: Claims = {}
  signing: Signing = 'right'
  /** Replaces the response with the key set. */
  keysAnswer: ((response: ServerResponse) => void) | undefined
  /** Overrides the provider metadata. */
  metadata: Claims = {}
  /** The requested paths. */
  readonly requested: string[] = []
  readonly #grants = new Map<string, Grant>()
  #server: Server | undefined
  #port = 0
  #pair: KeyPair | undefined
  #kid = ''

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Starts listening; after `close`, on the same port. */
  async open(): Promise<void> {
    if (!this.#pair) await this.rotate()
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
    })
    await new Promise<void>(resolve => this.#server?.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise(resolve => this.#server?.close(resolve))
  }

  /** Replaces the signing key, and publishes only the new one. */
  async rotate(): Promise<void> {
    this.#pair = await generateKeyPair('ES256', { extractable: true })
    this.#kid = randomUUID()
  }

  /** A JWT with these claims. */
  async token(claims: object, signing: Signing = 'right', header: Claims = {}): Promise<string> {
    const pair = this.#pair
    if (!pair) throw new Error('The issuer is not listening')
    const payload = { iss: this.url, iat: now(), exp: now() + 300, ...claims }
    const named = { kid: this.#kid, typ: 'at+jwt', ...header }
    if (signing === 'none') return `${base64({ ...named, alg: 'none' })}.${base64(payload)}.`
    if (signing === 'public') {
      const unsigned = `${base64({ ...named, alg: 'HS256' })}.${base64(payload)}`
      const secret = await exportSPKI(pair.publicKey)
      return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
    }
    const { privateKey } = signing === 'stranger' ? await generateKeyPair('ES256') : pair
    return new SignJWT(payload as JWTPayload).setProtectedHeader({ alg: 'ES256', ...named }).sign(privateKey)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    this.requested.push(pathname)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return void json(200, this.#about())
      case '/authorize':
        return void response.writeHead(302, { location: this.#granted(searchParams) }).end()
      case '/token':
        return void json(...(await this.#redeemed(request)))
      case '/userinfo':
        return void json(200, { sub: this.person['sub'], ...this.userInfo })
      case '/keys':
        return void (this.keysAnswer ? this.keysAnswer(response) : json(200, { keys: [await this.#publicKey()] }))
      default:
        return void json(404, { error: 'not_found' })
    }
  }

  #about(): Claims {
    const { url } = this
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      ...(this.userInfo ? { userinfo_endpoint: `${url}/userinfo` } : {}),
      id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
      ...this.metadata,
    }
  }

  async #publicKey(): Promise<JWK> {
    if (!this.#pair) throw new Error('The issuer is not listening')
    return { ...(await exportJWK(this.#pair.publicKey)), kid: this.#kid, alg: 'ES256', use: 'sig' }
  }

  #granted(query: URLSearchParams): string {
    const code = randomUUID()
    this.#grants.set(code, { query, person: this.person })
    const back = new URL(query.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', query.get('state') ?? '')
    return back.href
  }

  async #redeemed(request: IncomingMessage): Promise<readonly [number, Claims]> {
    const form = new URLSearchParams(await text(request))
    if (request.headers.authorization !== `Basic ${Buffer.from('app:secret').toString('base64')}`) return [401, { error: 'invalid_client' }]
    const grant = this.#grants.get(form.get('code') ?? '')
    this.#grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight = grant?.query.get('code_challenge') === challenge && grant.query.get('redirect_uri') === form.get('redirect_uri')
    if (!grant || !isRight) return [400, { error: 'invalid_grant' }]
    const claims = { aud: 'app', nonce: grant.query.get('nonce'), ...grant.person, ...this.spoil }
    const id_token = await this.token(claims, this.signing, { typ: 'JWT' })
    return [200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token }]
  }
}

/** Starts such a provider, until the test ends. */
export const fakeIssuer = async (t: { teardown(end: () => Promise<void>): void }): Promise<FakeIssuer> => {
  const issuer = new FakeIssuer()
  await issuer.open()
  t.teardown(() => issuer.close())
  return issuer
}
