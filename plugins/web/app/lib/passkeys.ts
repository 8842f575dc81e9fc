import type { Operations } from '../api.ts'
import { ApiError } from './api.ts'

type Assertion = NonNullable<Operations['POST /api/login/second-factor']['body']['passkey']>

/** Passkeys belong to a name: browsers refuse them where the server is reached by its IP address. */
const isAddress = /^[\d.]+$|^\[/

/** Whether this browser supports passkeys here: not on plain http, except for localhost, and not at an IP address. */
export const canUsePasskeys = (): boolean =>
  !isAddress.test(location.hostname) &&
  typeof PublicKeyCredential !== 'undefined' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'

/** Prompts for a passkey; undefined when the user dismisses the browser's prompt. */
export const passkeyFor = async (options: Readonly<Record<string, unknown>>): Promise<Assertion | undefined> => {
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON)
    const credential = await navigator.credentials.get({ publicKey })
    return credential instanceof PublicKeyCredential ? (credential.toJSON() as Assertion) : undefined
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return undefined
    // The address of this page is not that of the host whose passkeys the server accepts.
    if (error instanceof DOMException && error.name === 'SecurityError')
      throw new ApiError(0, { code: 'passkeyElsewhere', host: options['rpId'] })
    throw error
  }
}
