import test from 'ava'
import type { Collection } from 'pounce/sdk'
import { FixedClock } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { until } from '../../../test/support/until.ts'
import { StoredSite, site } from './stored-site.ts'

const settings = { themes: ['one', 'two'], displayName: 'Here', lettersPerHour: 5 }

test('a change applies at once on the same kernel, and within a second on another', async t => {
  const store = await openStore(t)
  await store.declare([site as Collection<object>])
  const [one, other] = [new StoredSite(settings, store, new FixedClock()), new StoredSite(settings, store, new FixedClock())]
  t.like(await other.settings(), { displayName: 'Here', theme: 'one' })
  await one.change({ displayName: 'There', theme: 'two' }, undefined)
  t.like(await one.settings(), { displayName: 'There', theme: 'two' })
  const seen = await until(
    'the other kernel to apply the change',
    () => other.settings(),
    ({ displayName }) => displayName === 'There',
    1000,
  )
  t.is(seen.theme, 'two')
})

test('a theme that is no longer listed is replaced by the first one', async t => {
  const store = await openStore(t)
  await store.declare([site as Collection<object>])
  await new StoredSite(settings, store, new FixedClock()).change({ theme: 'two' }, undefined)
  t.like(await new StoredSite({ ...settings, themes: ['three'] }, store, new FixedClock()).settings(), { theme: 'three' })
})
