import { s } from 'pounce/sdk'

const base64url = (maxLength: number) => s.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$' })

const credential = { id: base64url(2000), rawId: base64url(2000), type: s.Literal('public-key') }

/** The result of `navigator.credentials.create`, by its `toJSON()`. */
export const RegistrationJson = s.model(
  'PasskeyRegistration',
  s.Object({
    ...credential,
    response: s.Object({
      clientDataJSON: base64url(8000),
      attestationObject: base64url(24_000),
      transports: s.Optional(s.Array(s.String({ maxLength: 30 }), { maxItems: 10 })),
    }),
  }),
)

/** The result of `navigator.credentials.get`, by its `toJSON()`. */
export const AssertionJson = s.model(
  'PasskeyAssertion',
  s.Object({
    ...credential,
    response: s.Object({
      clientDataJSON: base64url(8000),
      authenticatorData: base64url(8000),
      signature: base64url(4000),
      userHandle: s.Optional(base64url(200)),
    }),
  }),
)

/** The three kinds of proof of a second factor. */
export const proofMembers = {
  code: s.Optional(s.String({ maxLength: 20, description: 'Six digits of the authenticator app' })),
  recoveryCode: s.Optional(s.String({ maxLength: 60 })),
  passkey: s.Optional(AssertionJson),
}

export const token = (description: string) => s.String({ maxLength: 4000, description })

/** Options of WebAuthn Level 3, in the format of `PublicKeyCredential.parse…OptionsFromJSON`. */
export const PublicKeyOptions = s.Record(s.String(), s.Unknown(), {
  description: 'For `navigator.credentials`: options in their JSON form',
})

export const maxBodyBytes = 64 * 1024

/** For responses with codes, challenges or cookies. */
export const noStore = { 'cache-control': 'no-store' } as const
