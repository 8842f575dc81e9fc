import type { VerifiedIdentity } from 'pounce/sdk'
import type { ProviderConfig } from './config.ts'

/** What a provider says of somebody. */
export type Claims = Readonly<Record<string, unknown>>

const maxGroups = 1000
const isObject = (value: unknown): value is Claims => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A claim by its name, or by a way into objects. */
const claimOf = (claims: Claims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

const textOf = (claims: Claims, name: string): string => {
  const value = claimOf(claims, name)
  return typeof value === 'string' ? value : ''
}

/** The groups of a person; undefined where the claim is absent. */
const groupsOf = (sources: readonly Claims[], name: string): readonly string[] | undefined => {
  const value = sources.map(claims => claimOf(claims, name)).find(found => found !== undefined)
  if (value === undefined) return undefined
  return [value]
    .flat()
    .filter(group => typeof group === 'string')
    .slice(0, maxGroups)
}

/** The address and the word that it was checked come from one source. */
const emailOf = (sources: readonly Claims[], { emailClaim, trustsEmail }: ProviderConfig): string => {
  const isVerified = (claims: Claims): boolean => [true, 'true'].includes(claimOf(claims, `${emailClaim}_verified`) as boolean | string)
  const source = sources.find(claims => textOf(claims, emailClaim) !== '' && (trustsEmail || isVerified(claims)))
  return source ? textOf(source, emailClaim) : ''
}

const namesOf = (sources: readonly Claims[], { firstNameClaim, lastNameClaim }: ProviderConfig): readonly [string, string] => {
  const first = (name: string): string => sources.map(claims => textOf(claims, name)).find(text => text !== '') ?? ''
  const names = [first(firstNameClaim), first(lastNameClaim)] as const
  if (names.some(name => name !== '')) return names
  const whole = first('name').trim()
  const at = whole.lastIndexOf(' ')
  return at < 0 ? ['', whole] : [whole.slice(0, at), whole.slice(at + 1)]
}

/**
 * Whom a provider vouches for, from what it says in one or more places, the first of which names the person. Undefined for people who are not in the
 * groups that may sign in. An address that nobody has checked does not count.
 */
export const identityOf = (provider: ProviderConfig, sources: readonly Claims[]): VerifiedIdentity | undefined => {
  const subject = textOf(sources[0] ?? {}, 'sub')
  const groups = groupsOf(sources, provider.groupsClaim)
  const mayEnter = provider.onlyGroups.length === 0 || provider.onlyGroups.some(group => groups?.includes(group))
  if (subject === '' || !mayEnter) return undefined
  const email = emailOf(sources, provider)
  const [firstName, lastName] = namesOf(sources, provider)
  return { provider: provider.name, subject, email, isEmailVerified: email !== '', firstName, lastName, ...(groups ? { groups } : {}) }
}
