import test from 'ava'
import type { Job } from 'pounce/sdk/kit'
import { extractor, JobScene } from '../support/job-scene.ts'
import { basic } from '../support/people.ts'
import { formWith, upload } from '../support/scene.ts'
import { letIn } from '../support/spaces-and-people.ts'

const hourMs = 3_600_000
const minuteMs = 60_000

const open = async (t: { teardown(end: () => unknown): void }, config: object = {}) => {
  const scene = await JobScene.open(config)
  t.teardown(() => scene.server.stop())
  const ann = await scene.person()
  const job = await scene.submit(ann.person, 'files', ann.file)
  const key = await scene.keyOf(job)
  const look = async (shown = key): Promise<number> => (await scene.by(shown).get(`/api/files/${ann.file}`)).status
  return { scene, ann, job, key, look }
}

const said = async (scene: JobScene, key: string, file: string) => {
  const { status, body } = await scene.by(key).get(`/api/files/${file}`)
  return `${status} ${(body as { message?: string }).message}`
}

test('a job key is valid through retries until shortly after the job is done', async t => {
  const { scene, ann, job, key, look } = await open(t)
  for (let hour = 0; hour < 12; hour += 1) {
    await scene.bus.sendStatus(job, hour % 3 === 0 ? 'StatusMessage.start: Started processing.' : `StatusMessage.retry: (#${hour}) again`)
    scene.clock.advance(hourMs)
    t.is(await look(), 200)
  }
  await scene.bus.sendStatus(job, 'StatusMessage.done: Done processing.')
  scene.clock.advance(9 * minuteMs)
  const late = await scene.by(key).call(`/api/uploadToDataset/${ann.dataset}`, { method: 'POST', body: formWith('late', 'late.txt') })
  t.is(late.status, 200)
  scene.clock.advance(2 * minuteMs)
  t.is(await said(scene, key, ann.file), '401 The job of this key has ended')
})

test('the key of a failed job is valid again when the job is rerun', async t => {
  const { scene, ann, job, key, look } = await open(t)
  await scene.bus.sendStatus(job, 'StatusMessage.error: broken')
  scene.clock.advance(hourMs)
  t.is(await said(scene, key, ann.file), '401 The job of this key has ended')
  scene.bus.dead.add(job.id)
  t.is((await scene.by(scene.server.admin.key).post(`/api/extractions/jobs/${job.id}/rerun`)).status, 200)
  t.is(await look(), 200)
})

test('a job that is submitted again gets a new key', async t => {
  const { scene, ann, job, key, look } = await open(t)
  await scene.bus.sendStatus(job, 'DONE')
  scene.clock.advance(hourMs)
  const again = await scene.keyOf(await scene.submit(ann.person, 'files', ann.file))
  t.not(again, key)
  t.is(await look(again), 200)
  t.is(await look(), 401)
})

test('a job key expires after the configured number of hours, even if the job is still running', async t => {
  const { scene, ann, key, look } = await open(t, { resources: { users: { jobKeyMaxHours: 5 } } })
  scene.clock.advance(5 * hourMs - minuteMs)
  t.is(await look(), 200)
  scene.clock.advance(minuteMs)
  t.is(await said(scene, key, ann.file), '401 The key of the job has expired')
})

test('keys of jobs submitted with a job key do not outlive it', async t => {
  const { scene, ann, key } = await open(t, { resources: { users: { jobKeyMaxHours: 5 } } })
  scene.clock.advance(4 * hourMs)
  const submitted = await scene.by(key).post(`/api/files/${ann.file}/extractions`, { extractor, parameters: {} })
  const child = await scene.keyOf(scene.jobOf((submitted.body as { job_id: string }).job_id))
  t.is((await scene.by(child).get(`/api/files/${ann.file}`)).status, 200)
  scene.clock.advance(hourMs)
  t.is(await said(scene, child, ann.file), '401 The key of the job has expired')
})

test('the key of a cancelled job is refused at once', async t => {
  const { scene, ann, job, key, look } = await open(t)
  t.is(await look(), 200)
  t.is((await ann.person.remove(`/api/files/${ann.file}/extractions/${job.id}`, { extractor })).status, 200)
  t.is(await said(scene, key, ann.file), '401 The job of this key was cancelled')
})

test('changing the password ends the keys of all jobs; jobs sent afterwards get valid ones', async t => {
  const { scene, ann, job, key, look } = await open(t)
  const { email, password } = ann.person
  const change = { password, newPassword: `${password}, changed` }
  const answer = await scene.server.as()('/api/password', {
    method: 'POST',
    json: change,
    headers: { authorization: basic(email, password) },
  })
  t.true(answer.ok, await answer.text())
  t.regex(await said(scene, key, ann.file), /^401 The credentials of the account have changed/)
  t.is(await look(await scene.keyOf(job)), 200)
})

test('signing a user out everywhere ends the keys of their jobs', async t => {
  const { scene, ann, look } = await open(t)
  t.is((await scene.by(scene.server.admin.key).remove(`/api/users/${ann.person.id}/sessions`)).status, 204)
  t.is(await look(), 401)
})

test('a job key has the current rights of its user: read-only, suspended, or removed from the space', async t => {
  const { scene, ann, look, key } = await open(t)
  const admin = scene.by(scene.server.admin.key)
  const metadata = async (shown: string, file: string) => {
    const agent = { '@type': 'cat:extractor', extractor_id: 'https://example.org/extractors/x/1' }
    return (await scene.by(shown).post(`/api/files/${file}/metadata.jsonld`, { content: {}, agent })).status
  }
  const status = (lists: object) => admin.post('/api/admin/users', lists)
  t.is((await status({ readonly: [ann.person.id] })).status, 200)
  t.is(await look(), 200)
  t.is(await metadata(key, ann.file), 403)
  t.is((await status({ inactive: [ann.person.id] })).status, 200)
  t.is(await look(), 401)
  t.is((await status({ active: [ann.person.id] })).status, 200)
  t.is(await look(), 200)

  const bob = await scene.person('bob')
  await letIn(ann.person, ann.space, 'Editor', bob.person)
  const theirs = await scene.keyOf(await scene.submit(bob.person, 'files', ann.file))
  t.is(await metadata(theirs, ann.file), 200)
  await letIn(ann.person, ann.space, 'Viewer', bob.person)
  t.is(await metadata(theirs, ann.file), 403)
  t.is((await ann.person.post(`/api/spaces/${ann.space}/removeUser?removeUser=${bob.person.id}`)).status, 200)
  t.is((await scene.by(theirs).get(`/api/files/${ann.file}`)).status, 404)
})

test('a job key that was altered anywhere, or is from another server, is refused', async t => {
  const { ann, key, look } = await open(t, { resources: { users: { wrongKeysPerAddress: 100_000 } } })
  for (let at = 4; at < key.length; at += 1) {
    const forged = `${key.slice(0, at)}${key[at] === 'A' ? 'B' : 'A'}${key.slice(at + 1)}`
    t.is(await look(forged), 401, String(at))
  }
  for (const wrong of [`${key}=`, `${key}A`, key.slice(0, -1), `job_${'A'.repeat(key.length - 4)}`]) t.is(await look(wrong), 401)
  const elsewhere = await JobScene.open()
  t.teardown(() => elsewhere.server.stop())
  t.is((await elsewhere.by(key).get(`/api/files/${ann.file}`)).status, 401)
})

test('keys refused because their jobs have ended do not count as failed sign-ins', async t => {
  const { scene, ann, job } = await open(t, { resources: { users: { wrongKeysPerAddress: 3 } } })
  const jobs: Job[] = [job]
  for (let n = 0; n < 8; n += 1) jobs.push(await scene.submit(ann.person, 'files', ann.file))
  const keys = await Promise.all(jobs.map(each => scene.keyOf(each)))
  for (const each of jobs) await scene.bus.sendStatus(each, 'DONE')
  scene.clock.advance(hourMs)
  for (const key of keys) t.is(await said(scene, key, ann.file), '401 The job of this key has ended')
})

test('a job key is valid after a restart, as on any other kernel of the installation', async t => {
  const { scene, look } = await open(t)
  await scene.server.restart()
  t.is(await look(), 200)
})

test('a job of the service key gets a key of its own, limited to the dataset of its file', async t => {
  const commKey = 'a service key of the installation'
  const scene = await JobScene.open({ resources: { users: { commKey } } })
  t.teardown(() => scene.server.stop())
  const ann = await scene.person()
  const job = await scene.submit({ call: scene.server.as(commKey) }, 'files', ann.file)
  t.is(job.user, null)
  const key = await scene.keyOf(job)
  t.false(key.includes(commKey))
  t.is((await scene.by(key).get(`/api/files/${ann.file}`)).status, 200)
  t.is((await scene.by(key).get(`/api/files/${ann.stranger}`)).status, 404)
  t.is((await scene.by(key).get('/api/datasets')).status, 403)
})

test('deleting its file ends the key of a job', async t => {
  const { scene, ann, key } = await open(t)
  const gone = await upload(ann.person.call, ann.dataset)
  const job = await scene.submit(ann.person, 'files', gone)
  const its = await scene.keyOf(job)
  t.is((await ann.person.remove(`/api/files/${gone}`)).status, 200)
  await scene.server.drained()
  t.regex(await said(scene, its, ann.file), /^401 The job of this key no longer exists/)
  t.is((await scene.by(key).get(`/api/files/${ann.file}`)).status, 200)
})
