import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { untypedForm } from '../clients/untyped-parts.ts'
import { ok } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

/** The public URL. One proxy forwards `/pounce`, the other strips it. */
const baseUrl = 'https://data.example.org/pounce'
const server = await bootForTest({ config: { http: { baseUrl, allowedHosts: ['*'] } } })
const ann = await somebody(server, 'ann')
test.after.always(() => server.stop())

for (const base of ['/pounce', '']) {
  const way = base === '' ? 'that strips its path' : 'that forwards its path'

  test(`behind a proxy ${way}, links and redirects have the path of the base URL`, async t => {
    const dataset = await newDataset(ann)
    await newDataset(ann)
    const list = await ann.call(`${base}/api/datasets?limit=1`)
    t.regex(list.headers.get('link') ?? '', /^<https:\/\/data\.example\.org\/pounce\/api\/datasets\?/)
    const slash = await ann.call(`${base}/api/datasets/${dataset}/?x=1`, { redirect: 'manual' })
    t.deepEqual([slash.status, slash.headers.get('location')], [301, `/pounce/api/datasets/${dataset}?x=1`])
    const home = await ann.call(`${base}/`)
    t.regex(await home.text(), /<html lang="en" data-base="\/pounce">|href="\/pounce\/docs"/)
    const { id } = await ok<{ id: string }>(
      ann.call(`${base}/api/uploadToDataset/${dataset}?extract=false`, {
        method: 'POST',
        ...untypedForm([{ name: 'leaf.txt', bytes: 'leaf' }]),
      }),
    )
    const { link } = await ok<{ link: string }>(ann.call(`${base}/files/${id}/links`, { method: 'POST' }))
    t.true(link.startsWith(`${baseUrl}/files/links/`))
    for (const path of [new URL(link).pathname, new URL(link).pathname.slice('/pounce'.length)])
      t.is(await (await server.as()(path)).text(), 'leaf', path)
  })

  test(`behind a proxy ${way}, routes of previews and previewers have the path of the base URL`, async t => {
    const dataset = await newDataset(ann)
    const sent = untypedForm([{ name: 'leaf.txt', bytes: 'leaf' }])
    const { id } = await ok<{ id: string }>(ann.call(`${base}/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', ...sent }))
    const shown = async (path: string) => {
      const [match] = await ok<{ previews: { pv_route: string; p_path: string; p_main: string }[] }[]>(ann.call(`${base}${path}`))
      return match?.previews[0] ?? t.fail()
    }
    const itself = await shown(`/api/files/${id}/getPreviews`)
    t.like(itself, { pv_route: `/pounce/files/${id}/blob`, p_path: '/pounce/previewers/text' })
    t.is(await (await ann.call(itself.pv_route)).text(), 'leaf')
    const module = await ann.call(`${itself.p_path}/${itself.p_main}`, { redirect: 'manual' })
    t.true(module.status === 302 && (module.headers.get('location') ?? '').startsWith('/pounce/'), String(module.status))

    const preview = await ok<{ id: string }>(
      ann.call(`${base}/api/previews`, { method: 'POST', ...untypedForm([{ name: 'short.txt', bytes: 'le' }]) }),
    )
    t.is((await ann.post(`${base}/api/files/${id}/previews/${preview.id}`, {})).status, 200)
    for (const path of [`/api/files/${id}/getPreviews`, `/api/datasets/${dataset}/getPreviews`]) {
      const { pv_route } = await shown(path)
      t.is(pv_route, `/pounce/api/previews/${preview.id}`)
      t.is(await (await ann.call(pv_route)).text(), 'le')
    }
  })

  test(`behind a proxy ${way}, a resumable upload continues at the returned location`, async t => {
    const dataset = await newDataset(ann)
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    const tus = { 'tus-resumable': '1.0.0' }
    const about = `filename ${encoded('leaf.txt')},dataset ${encoded(dataset)}`
    const begun = await ann.call(`${base}/api/uploads`, {
      method: 'POST',
      headers: { ...tus, 'upload-length': '4', 'upload-metadata': about },
    })
    const location = begun.headers.get('location') ?? ''
    t.regex(location, /^\/pounce\/api\/uploads\/[0-9a-f]{24}$/)
    for (const path of [location, location.slice('/pounce'.length)])
      t.is((await ann.call(path, { method: 'HEAD', headers: tus })).headers.get('upload-offset'), '0', path)
  })

  test(`behind a proxy ${way}, a session is valid for the whole host`, async t => {
    const answer = await server.as()(`${base}/api/login`, { method: 'POST', json: { email: ann.email, password: ann.password } })
    t.is(answer.status, 200)
    const cookie = answer.headers.get('set-cookie') ?? ''
    t.regex(cookie, /^__Host-pounce_session=[^;]+;.* Path=\/;/)
    const headers = { cookie: cookie.split(';')[0] ?? '', origin: 'https://data.example.org' }
    for (const each of ['/pounce', '']) {
      t.is((await server.as()(`${each}/api/me`, { headers })).status, 200)
      const made = await server.as()(`${each}/api/datasets/createempty`, { method: 'POST', json: { name: 'x', description: '' }, headers })
      t.is(made.status, 200)
    }
  })
}
