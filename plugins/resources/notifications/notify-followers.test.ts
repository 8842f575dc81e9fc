import test, { type ExecutionContext } from 'ava'
import { type Collection, type Feed, type Stored, Unavailable, type UserRecord, type Users } from 'pounce/sdk'
import type { FeedLine } from 'pounce/sdk/kit'
import { FixedClock, silent } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import type { Inbox, NewNotification } from './inbox.ts'
import { followers, NotifyFollowers } from './notify-followers.ts'

const hourMs = 3_600_000
const never = new AbortController().signal
const settings = { maxLines: 50, settleSeconds: 60, keptDays: 90, maxPerPerson: 1000 }
const dataset = { kind: 'dataset', id: 'd'.repeat(24), name: 'Cores' } as const
const line: FeedLine = { id: 'a', at: '', type: 'add_file', user: 'u1', who: 'Ann', object: dataset, source: null }

/** A follower, Bob, for whom each run fails with the given errors, one after the other. */
const opened = async (t: ExecutionContext, errors: { readonly commit?: Error; readonly read?: Error }) => {
  const documents = await openStore(t)
  await documents.declare([followers as Collection<object>])
  const clock = new FixedClock()
  const told = clock.now().toISOString()
  await documents.commit({ insert: { id: 'bob', told, due: told }, into: followers })
  const keys: string[] = []
  const left = { ...errors }
  const failOnce = (name: 'commit' | 'read'): void => {
    const error = left[name]
    delete left[name]
    if (error) throw error
  }
  const failing = new Proxy(documents, {
    get: (store, name) => {
      if (name === 'commit') failOnce('commit')
      const member = Reflect.get(store, name)
      return typeof member === 'function' ? member.bind(store) : member
    },
  })
  const users = { get: async (id: string) => ({ id, followed: [dataset], status: 'Active' }) as unknown as UserRecord & Stored } as Users
  const feed: Feed = {
    recentLines: async (_, { since }) => {
      failOnce('read')
      return { lines: since === told ? [line] : [], isCut: false }
    },
  }
  const inbox = { notify: async ({ key }: NewNotification) => void keys.push(key) } as unknown as Inbox
  const work = new NotifyFollowers(settings, failing, users, feed, inbox, clock, silent)
  const pass = () => clock.advance(hourMs)
  pass()
  return { work, pass, keys, position: async () => (await documents.get(followers, 'bob'))?.told, told }
}

test('a run that an outage interrupts is repeated with the same notifications', async t => {
  const { work, pass, keys } = await opened(t, { commit: new Unavailable('away') })
  await t.throwsAsync(work.run(never), { instanceOf: Unavailable })
  pass()
  await work.run(never)
  t.deepEqual(keys, [keys[0], keys[0]])
  pass()
  await work.run(never)
  t.is(keys.length, 2)
})

test('changes that could not be read are read again an hour later', async t => {
  const { work, pass, keys, position, told } = await opened(t, { read: new Error('a fault') })
  await work.run(never)
  t.deepEqual([keys, await position()], [[], told])
  pass()
  await work.run(never)
  t.is(keys.length, 1)
})
