import { randomUUID } from 'node:crypto'
import { Client } from 'ldapts'
import type { KnownAccount } from 'pounce/sdk/testing'
import { silent } from 'pounce/sdk/testing'
import type { LdapConfig } from './config.ts'
import { Directory } from './directory.ts'
import { LdapAccounts } from './ldap-accounts.ts'

/** The directory of `ldap.sh`, whose comment describes the content. */
export const root = 'dc=example,dc=org'
const admin = { bindDn: `cn=admin,${root}`, bindPassword: 'admin' }

const defaults: LdapConfig = {
  startTls: false,
  userFilter: '(mail={login})',
  label: 'Directory',
  emailAttribute: 'mail',
  firstNameAttribute: 'givenName',
  lastNameAttribute: 'sn',
  groupAttribute: 'memberOf',
  groupFilter: '(member={dn})',
  onlyGroups: [],
  trustsEmail: false,
  timeoutMs: 2000,
}

/** The provider under test, with the accounts of that directory. */
export const accountsOf = async (url: string, config: Partial<LdapConfig> = {}, log = silent) => {
  const whole: LdapConfig = { ...defaults, ...admin, url, baseDn: `ou=people,${root}`, ...config }
  const directory = new Directory(whole, log)
  await directory.start()
  return { provider: new LdapAccounts(whole, directory, log), directory }
}

/** Runs `work` with a connection as the admin of the directory. */
const asAdmin = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ url })
  try {
    await client.bind(admin.bindDn, admin.bindPassword)
    return await work(client)
  } finally {
    await client.unbind()
  }
}

/** A new subtree of the directory. */
export const newUnit = async (url: string): Promise<string> => {
  const ou = `u${randomUUID()}`
  await asAdmin(url, client => client.add(`ou=${ou},${root}`, { objectClass: 'organizationalUnit', ou }))
  return `ou=${ou},${root}`
}

/** An entry `ou=elsewhere` that is a referral. */
export const newReferral = async (url: string, unit: string, there: string): Promise<void> => {
  await asAdmin(url, client =>
    client.add(`ou=elsewhere,${unit}`, { objectClass: ['referral', 'extensibleObject'], ou: 'elsewhere', ref: there }),
  )
}

/** A new person in the directory. `about` adds or replaces attributes; `name` is escaped as in a DN. */
export const newPerson = async (
  url: string,
  password: string,
  about: Record<string, string | string[]> = {},
  name = `p${randomUUID()}`,
  unit = `ou=people,${root}`,
): Promise<KnownAccount & { readonly dn: string }> => {
  const uid = name.replace(/\\(.)/g, '$1')
  const [email, firstName, lastName] = [`${uid}@example.org`, 'Zoë', 'Müller']
  const dn = `uid=${name},${unit}`
  const entry = {
    objectClass: 'inetOrgPerson',
    uid,
    cn: `${firstName} ${lastName}`,
    givenName: firstName,
    sn: lastName,
    mail: email,
    userPassword: password,
    ...about,
  }
  await asAdmin(url, client => client.add(dn, entry))
  return { email, firstName, lastName, password, dn }
}

/** A new group with these members. */
export const newGroup = async (url: string, members: readonly string[]): Promise<string> => {
  const cn = `g${randomUUID()}`
  const dn = `cn=${cn},ou=groups,${root}`
  await asAdmin(url, client => client.add(dn, { objectClass: 'groupOfNames', cn, member: [...members] }))
  return dn
}
