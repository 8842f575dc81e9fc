import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { DocumentStore, Installation } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { blockRead } from '../../../test/support/blocked-read.ts'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { until } from '../../../test/support/until.ts'
import { readAccess, StoredReadAccess } from './stored-read-access.ts'

const started = async (t: ExecutionContext, documents: DocumentStore, configuredPrivate?: boolean): Promise<StoredReadAccess> => {
  const installation = (configuredPrivate === undefined ? {} : { configuredPrivate }) as Installation
  const access = new StoredReadAccess(installation, documents, silent)
  await access.start()
  t.teardown(() => access.dispose())
  return access
}

const openDocuments = async (t: ExecutionContext) => {
  const documents = await openStore(t)
  await documents.declare([readAccess])
  return documents
}

test('a kernel adopts a choice made on another kernel, and a choice once made is not requested again', async t => {
  const documents = await openDocuments(t)
  const [one, other] = [await started(t, documents), await started(t, documents)]
  t.is(one.origin, 'default')
  t.false(other.isPrivate)
  await Promise.all([one.ask(), other.ask()])
  t.deepEqual([one.isPrivate, one.origin, other.isPrivate, other.origin], [true, 'pending', true, 'pending'])
  await one.choose(false)
  await one.ask()
  t.deepEqual([one.isPrivate, one.origin], [false, 'admin'])
  await until('the other kernel to be public', () => !other.isPrivate)
  await other.choose(true)
  await until('the first kernel to be private', () => one.isPrivate)
})

test('a choice is not overridden by a read that began before it', async t => {
  const documents = await openDocuments(t)
  const access = await started(t, documents)
  await access.choose(false)
  const held = blockRead(documents, 'get', readAccess.name)
  let isHeld = false
  void held.begun.then(() => {
    isHeld = true
  })
  // Its timer does not keep the process running.
  await until('a read to be held', () => isHeld)
  await access.choose(true)
  held.release()
  await setImmediate()
  t.true(access.isPrivate)
})

test('the configured value is not stored, and overrides the stored one', async t => {
  const documents = await openDocuments(t)
  await (await started(t, documents)).choose(true)
  const configured = await started(t, documents, false)
  await configured.ask()
  t.deepEqual([configured.isPrivate, configured.origin], [false, 'configuration'])
  await t.throwsAsync(configured.choose(true), { message: /access\.private is set/ })
  t.true((await started(t, documents)).isPrivate)
})
