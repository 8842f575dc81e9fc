import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'

// Without bwrap in the PATH no machine has a sandbox. PATH affects the whole process, so the tests run serially.
const path = process.env['PATH']
test.beforeEach(() => {
  process.env['PATH'] = '/nowhere'
})
test.afterEach.always(() => {
  process.env['PATH'] = path
})

const sandboxed = (sandbox: string) => ({ transport: { queue: { sandbox } } })

test.serial('if a sandbox is required but missing, the server does not start and the error names the package to install', async t => {
  const error = await t.throwsAsync(bootForTest({ t, config: sandboxed('required') }))
  t.regex(error?.message ?? '', /transport\.queue did not start/)
  t.regex(error?.message ?? '', /sandbox is "required"/)
  t.regex(error?.message ?? '', /apt-get install bubblewrap/)
  t.regex(error?.message ?? '', /bwrap is not installed/)
})

test.serial('without a sandbox the server is ready, and /readyz shows admins what is unprotected', async t => {
  const server = await bootForTest({ t, config: sandboxed('auto') })
  const answer = await server.as(server.admin.key)('/readyz')
  t.is(answer.status, 200)
  const { plugins } = (await answer.json()) as { readonly plugins: readonly { readonly id: string }[] }
  const queue = plugins.find(({ id }) => id === 'transport.queue') as { readonly ok: boolean; readonly message?: string } | undefined
  t.true(queue?.ok)
  t.regex(queue?.message ?? '', /^Extractors run without a complete sandbox of the operating system; open: /)
  t.deepEqual(Object.keys((await (await fetch(`${server.url}/readyz`)).json()) as object), ['ready'])
})
