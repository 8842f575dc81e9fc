import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, type FixedClock, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { Browser } from './browser.ts'
import { FakeIssuer } from './fake-issuer.ts'

/** A server whose users sign in at a provider named `uni`. */
export interface OutsideServer {
  readonly server: TestServer
  readonly issuer: FakeIssuer
  readonly mailer: MemoryMailer
  /** Signs in through the provider; resolves to the last response and the signed-in browser. */
  signIn(person?: Record<string, unknown>, browser?: Browser): Promise<{ readonly answer: Response; readonly browser: Browser }>
  /** The signed-in user of a browser. */
  whoIs(browser: Browser): Promise<{ readonly id: string; readonly email: string; readonly fullName: string } | undefined>
  /** Creates a local account. */
  account(email: string, password?: string): Promise<string>
}

type Test = { teardown(end: () => Promise<void>): void }

/** Starts such a server, with optional settings of the provider, of accounts and of the server. */
export const outsideServer = async (
  t: Test,
  {
    provider = {},
    users = {},
    more = {},
    clock,
    folder,
    without = [],
  }: {
    provider?: object
    users?: object
    more?: { resources?: object; http?: object }
    clock?: FixedClock
    folder?: string
    without?: readonly string[]
  } = {},
): Promise<OutsideServer> => {
  const issuer = new FakeIssuer()
  await issuer.open()
  t.teardown(() => issuer.close())
  const mailer = new MemoryMailer()
  const uni = { label: 'Example University', issuer: issuer.url, clientId: 'app', clientSecret: 'secret', ...provider }
  const server = await bootForTest({
    t,
    ...(folder === undefined ? {} : { folder }),
    also: ['auth.oidc'],
    without,
    config: {
      ...more,
      auth: { oidc: { providers: { uni }, refetchKeysAfterMs: 0, timeoutMs: 10_000 } },
      resources: { ...more.resources, users: { wrongKeysPerAddress: 1000, ...users } },
    },
    overrides: { [Mailer]: mailer },
    ...(clock ? { clock } : {}),
  })
  return {
    server,
    issuer,
    mailer,
    async signIn(person, browser = new Browser()) {
      if (person) issuer.person = { email_verified: true, given_name: 'Ada', family_name: 'Lovelace', ...person }
      const { answer } = await browser.go(`${server.url}/api/login/uni?returnTo=/api/me`)
      return { answer, browser }
    },
    async whoIs(browser) {
      const { answer } = await browser.go(`${server.url}/api/me`)
      return answer.status === 200 ? ((await answer.json()) as { id: string; email: string; fullName: string }) : undefined
    },
    async account(email, password) {
      const about = { email, firstName: 'Local', lastName: 'Person', status: 'Active' } as const
      return (await server.get(Users).create(password === undefined ? about : { ...about, password })).id
    },
  }
}
