import test from 'ava'
import type { Contributions, Site } from 'pounce/sdk'
import { acceptsTerms, checkMail, type SiteSettings, siteName } from 'pounce/sdk/kit'

const sites = (...names: readonly string[]): Contributions<Site> => ({
  all: () => names.map(displayName => ({ settings: async () => ({ displayName }) as SiteSettings }) as Site),
})

test('the name of a site is safe in the subject of a mail, whatever an admin entered', async t => {
  for (const name of ['Field', 'a\r\nBcc: b@example.org', 'a\u2028b\u2029c', '\u0000', ' ', 'x'.repeat(200)]) {
    const shown = await siteName(sites(name))
    t.true(shown.length > 0)
    t.notThrows(() => checkMail({ to: ['a@example.org'], subject: `[${shown}] x`, text: '' }), JSON.stringify(name))
  }
  t.is(await siteName(sites(' Field\tLab ')), 'Field Lab')
})

test('without settings a site has the name of the program', async t => {
  t.is(await siteName(sites()), 'Pounce')
})

test('an acceptance is valid if not older than the terms, and not needed without terms', t => {
  const terms = (tosText: string, tosChanged: string | null) => ({ tosText, tosChanged }) as SiteSettings
  const [before, then, after] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'] as const
  const accepted = (termsAccepted: string | null) => acceptsTerms({ termsAccepted }, terms('Be kind.', then))
  t.deepEqual([null, before, then, after].map(accepted), [false, false, true, true])
  t.true(acceptsTerms({ termsAccepted: null }, terms('', then)))
  t.true(acceptsTerms({ termsAccepted: null }, terms('Be kind.', null)))
})
