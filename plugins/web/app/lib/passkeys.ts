import type { Operations } from '../api.ts'

type Assertion = NonNullable<Operations['POST /api/login/second-factor']['body']['passkey']>

/** Whether this browser supports passkeys here: not on plain http, except for localhost. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential !== 'undefined' && typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'

/** Prompts for a passkey; undefined when the user dismisses the browser's prompt. */
export const passkeyFor = async (options: Readonly<Record<string, unknown>>): Promise<Assertion | undefined> => {
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON)
    const credential = await navigator.credentials.get({ publicKey })
    return credential instanceof PublicKeyCredential ? (credential.toJSON() as Assertion) : undefined
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return undefined
    throw error
  }
}
