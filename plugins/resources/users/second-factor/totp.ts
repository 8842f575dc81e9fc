import type { TOTP } from 'otpauth'

const periodSeconds = 30
/** RFC 6238, 5.2: one step of drift and delay either way. */
const driftSteps = 1

// Loaded when somebody first uses it: most installations start without.
const totpOf = async (secret: string | undefined, issuer = '', label = ''): Promise<TOTP> => {
  const { Secret, TOTP: Totp } = await import('otpauth')
  // RFC 4226, 4: 160 bits. SHA-1 and six digits are what every authenticator app understands.
  const key = secret === undefined ? new Secret({ size: 20 }) : Secret.fromBase32(secret)
  return new Totp({ issuer, label, secret: key, algorithm: 'SHA1', digits: 6, period: periodSeconds })
}

/** A new secret in base32, and the address that authenticator apps read from a QR code. */
export const newTotp = async (issuer: string, label: string): Promise<{ readonly secret: string; readonly uri: string }> => {
  const totp = await totpOf(undefined, issuer, label)
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/** The time step that a code belongs to, now or one step before or after; undefined for a wrong code. */
export const stepOf = async (secret: string, code: string, now: Date): Promise<number | undefined> => {
  const totp = await totpOf(secret)
  const drift = totp.validate({ token: code.replaceAll(' ', ''), timestamp: now.getTime(), window: driftSteps })
  return drift === null ? undefined : Math.floor(now.getTime() / 1000 / periodSeconds) + drift
}
