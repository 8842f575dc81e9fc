import type { Operations } from '../api.ts'

type Assertion = NonNullable<Operations['POST /api/login/second-factor']['body']['passkey']>

/** Passkeys belong to a name: browsers refuse them where the server is reached by its IP address. */
const isAddress = /^[\d.]+$|^\[/

/** Whether this browser supports passkeys here: not on plain http, except for localhost, and not at an IP address. */
export const canUsePasskeys = (): boolean =>
  !isAddress.test(location.hostname) &&
  typeof PublicKeyCredential !== 'undefined' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'

/** The address of this page is not that of the host whose passkeys the server accepts. */
export class PasskeyElsewhere extends Error {
  readonly host: string

  constructor(host: string, options?: ErrorOptions) {
    super(`Passkeys of this server belong to ${host}`, options)
    this.host = host
  }
}

/** Prompts for a passkey; undefined when the user dismisses the browser's prompt. */
export const passkeyFor = async (options: Readonly<Record<string, unknown>>): Promise<Assertion | undefined> => {
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON)
    const credential = await navigator.credentials.get({ publicKey })
    return credential instanceof PublicKeyCredential ? (credential.toJSON() as Assertion) : undefined
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return undefined
    if (error instanceof DOMException && error.name === 'SecurityError')
      throw new PasskeyElsewhere(String(options['rpId']), { cause: error })
    throw error
  }
}
