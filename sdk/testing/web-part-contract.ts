import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

/** A browser page, compatible with Playwright. */
export interface BrowserPage {
  /** Evaluates an expression in the page and resolves to its value. */
  evaluate<T>(expression: string): Promise<T>
}

/** A viewer under test, and a file that it can show. */
export interface WebPartSubject {
  /** A page on the web interface of the server with the module. */
  readonly page: BrowserPage
  /** As listed by `GET /api/web/contributions`, relative to the base URL. */
  readonly module: string
  readonly styles: readonly string[]
  readonly thing: { readonly kind: 'file' | 'preview'; readonly name: string; readonly contentType: string }
  readonly bytes: Uint8Array
  /** URLs of the bytes and of an empty file, on the page's server. */
  readonly url: string
  readonly emptyUrl: string
}

/** The outcome of a mount, as reported by the page. */
interface Mounted {
  /** The result of `canShow` if boolean, or that it is absent. */
  readonly canShow: unknown
  readonly state: 'mounted' | 'rejected' | 'pending' | 'nonsense'
  /** Name and message of the error. */
  readonly error?: { readonly name: string; readonly message: string }
  /** Number of rendered elements and characters of text. */
  readonly drawn: number
  /** What remains after unmounting: its own elements, elements elsewhere in the page, workers. */
  readonly left: { readonly own: number; readonly elsewhere: number; readonly workers: number }
  /** Uncaught errors. */
  readonly uncaught: readonly string[]
}

const settleMs = 20_000

/** Runs in the page. A string, so that no browser types are needed. */
const harness = `async ({ module, styles, thing, bytes, url, how, settleMs }) => {
  const part = await import(module)
  for (const path of styles) {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = path
    await new Promise((resolve, reject) => {
      link.onload = resolve
      link.onerror = () => reject(new Error(path + ' cannot be loaded'))
      document.head.append(link)
    })
  }
  const uncaught = []
  const note = ({ error, reason, message }) => uncaught.push(String((error ?? reason)?.message ?? message))
  const workers = new Set()
  const NativeWorker = window.Worker
  window.Worker = class extends NativeWorker {
    constructor(...given) { super(...given); workers.add(this) }
    terminate() { workers.delete(this); super.terminate() }
  }
  addEventListener('error', note)
  addEventListener('unhandledrejection', note)
  const all = Uint8Array.from(atob(bytes), character => character.charCodeAt(0))
  const abort = new AbortController()
  const shown = { ...thing, id: 'f'.repeat(24), sizeBytes: all.length, rights: [] }
  const host = {
    version: 1, thing: shown, url, language: 'en',
    read: async (start, end) => {
      if (how === 'failing') throw new Error('The bytes cannot be read.')
      if (abort.signal.aborted) throw new DOMException('aborted', 'AbortError')
      return all.slice(start, end)
    },
    api: async () => { throw new Error('The server does not answer.') },
    t: key => key,
    toast: () => undefined,
    navigate: () => undefined,
    state: { get: () => undefined, set: () => undefined },
    nonce: document.querySelector('meta[property=csp-nonce]')?.nonce ?? '',
    signal: abort.signal,
  }
  const element = document.createElement('div')
  document.querySelector('main').append(element)
  const before = document.querySelectorAll('body *').length
  if (how === 'aborted') abort.abort()
  const canShow = part.canShow && await Promise.resolve().then(() => part.canShow(shown, host)).catch(() => 'rejected')
  let remove
  let error
  let state = 'pending'
  await Promise.race([
    Promise.resolve().then(() => part.mount(element, host)).then(
      given => { remove = given; state = typeof given === 'function' ? 'mounted' : 'nonsense' },
      reason => { error = { name: String(reason?.name), message: String(reason?.message) }; state = 'rejected' },
    ),
    new Promise(resolve => setTimeout(resolve, settleMs)),
  ])
  await new Promise(resolve => setTimeout(resolve, 200))
  const drawn = element.querySelectorAll('*').length + element.textContent.length
  abort.abort()
  if (state === 'mounted') remove()
  const own = state === 'mounted' ? element.childNodes.length : 0
  element.remove()
  await new Promise(resolve => setTimeout(resolve, 200))
  removeEventListener('error', note)
  removeEventListener('unhandledrejection', note)
  window.Worker = NativeWorker
  const elsewhere = document.querySelectorAll('body *').length - before + 1
  return { canShow, state, error, drawn, uncaught, left: { own, elsewhere, workers: workers.size } }
}`

type How = 'well' | 'failing' | 'aborted' | 'empty'

const mountIn = async ({ page, module, styles, thing, bytes, url, emptyUrl }: WebPartSubject, how: How): Promise<Mounted> => {
  const given = how === 'empty' ? { bytes: '', url: emptyUrl } : { bytes: Buffer.from(bytes).toString('base64'), url }
  const absent = { url: `/api/files/${'f'.repeat(24)}` }
  return page.evaluate<Mounted>(
    `(${harness})(${JSON.stringify({ module, styles, thing, ...given, ...(how === 'failing' ? absent : {}), how, settleMs })})`,
  )
}

const requireClean = (t: TestContext, { left, uncaught }: Mounted): void => {
  t.deepEqual(left, { own: 0, elsewhere: 0, workers: 0 }, 'leftover elements and workers')
  t.deepEqual(uncaught, [], 'uncaught errors')
}

/** Either rendered something visible, or rejected with a message for the user. */
const requireAnswer = (t: TestContext, { state, error, drawn }: Mounted): void => {
  if (state === 'rejected') {
    t.is(error?.name, 'Error', `a message for the user, not ${error?.name}: ${error?.message}`)
    t.not(error?.message, '')
  } else {
    t.is(state, 'mounted')
    t.true(drawn > 0, 'nothing is rendered')
  }
}

/**
 * The contract of viewers, in a browser. `name` is used in the test titles; `make` is called once per test and may return shared pages, since tests run
 * sequentially.
 */
export function webPartContract(runner: TestRunner, name: string, make: () => Promise<WebPartSubject>): void {
  const test = contractTest(runner)
  test.serial(`${name} is mounted, and unmounted without leftovers`, async t => {
    const mounted = await mountIn(await make(), 'well')
    t.deepEqual([mounted.state, mounted.error], ['mounted', undefined])
    t.true(mounted.canShow === undefined || mounted.canShow === true, `canShow: ${mounted.canShow}`)
    t.true(mounted.drawn > 0, 'nothing is rendered')
    requireClean(t, mounted)
  })

  test.serial(`${name} tolerates a signal that is aborted before mounting`, async t => {
    const mounted = await mountIn(await make(), 'aborted')
    t.not(mounted.state, 'pending')
    t.not(mounted.state, 'nonsense')
    requireClean(t, mounted)
  })

  test.serial(`${name} reports that the bytes cannot be read`, async t => {
    const mounted = await mountIn(await make(), 'failing')
    requireAnswer(t, mounted)
    requireClean(t, mounted)
  })

  test.serial(`${name} tolerates an empty file`, async t => {
    const mounted = await mountIn(await make(), 'empty')
    requireAnswer(t, mounted)
    requireClean(t, mounted)
  })
}
