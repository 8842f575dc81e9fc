import { urlOf } from './api.ts'

/** An entry of a dataset, as listed with `recursive`. */
interface Found {
  readonly id: string
  readonly kind: 'folder' | 'file'
  readonly name: string
  readonly type: string | null
  readonly size: number | null
  /** Names of the folders between the listed one and the entry. */
  readonly path?: readonly string[]
}

/** Where a text is, and how links are followed. */
export interface TextPlace {
  /** The ID of its file. */
  readonly file: string
  readonly name: string
  readonly dataset: string
  /** The root, unless a folder is given. */
  readonly folder: string | undefined
  /** Calls the API. */
  readonly api: (path: string) => Promise<unknown>
  /** Opens a page. */
  readonly navigate: (path: string) => void
}

/** Each name needs a request. */
const maxNames = 50
const maxPictureBytes = 40_000_000

/** A link that is relative to the folder of its text, or to the root if it begins with a slash. */
interface Target {
  readonly steps: readonly string[]
  readonly hash: string
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `own`: the folders above the text. Undefined for links that lead out of the dataset, or nowhere. */
const targetOf = (link: string, own: readonly string[]): Target | undefined => {
  const [, path = '', hash = ''] = /^([^?#]*)[^#]*(#.*)?$/s.exec(link) ?? []
  const steps = path.startsWith('/') ? [] : [...own]
  for (const step of path.split('/').map(decoded)) {
    if (step === '..') {
      if (steps.pop() === undefined) return undefined
    } else if (step !== '' && step !== '.') steps.push(step)
  }
  return path === '' || steps.length === 0 ? undefined : { steps, hash }
}

const isSamePath = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((step, at) => step === other[at])

/** All entries of a dataset with a name, in any folder. */
const named = async ({ dataset, api }: TextPlace, name: string): Promise<readonly Found[]> => {
  const query = new URLSearchParams({ recursive: 'true', filter: name, limit: '1000' })
  const { entries } = (await api(`/api/datasets/${dataset}/entries?${query}`)) as { readonly entries: readonly Found[] }
  return entries.filter(entry => entry.name === name)
}

const show = (element: Element, found: Found, { hash }: Target, { dataset, navigate }: TextPlace): void => {
  const to = found.kind === 'folder' ? `/datasets/${dataset}?folder=${found.id}` : `/files/${found.id}?dataset=${dataset}${hash}`
  if (element instanceof HTMLAnchorElement) {
    element.href = urlOf(to)
    element.addEventListener('click', event => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      navigate(to)
    })
    return
  }
  if (!found.type?.startsWith('image/') || (found.size ?? 0) > maxPictureBytes) return
  const picture = document.createElement('img')
  picture.alt = element.textContent ?? ''
  picture.loading = 'lazy'
  picture.src = urlOf(`/api/files/${found.id}`, { tracking: false })
  element.replaceWith(picture)
}

/**
 * Relative links and pictures of a rendered text lead to the files and folders of its dataset that they name, if the user may view them. Others stay
 * text.
 */
export const linkRelatives = async (text: Element, place: TextPlace, signal?: AbortSignal): Promise<void> => {
  const elements = [...text.querySelectorAll('[data-relative]')]
  if (elements.length === 0) return
  const own = place.folder === undefined ? [] : ((await named(place, place.name)).find(({ id }) => id === place.file)?.path ?? [])
  const byName = new Map<string, (readonly [Element, Target])[]>()
  for (const element of elements) {
    const target = targetOf(element.getAttribute('data-relative') ?? '', own)
    const name = target?.steps.at(-1)
    if (target && name !== undefined) byName.set(name, [...(byName.get(name) ?? []), [element, target]])
  }
  for (const [name, links] of [...byName].slice(0, maxNames)) {
    const entries = await named(place, name)
    if (signal?.aborted) return
    for (const [element, target] of links) {
      const found = entries.find(({ path = [] }) => isSamePath([...path, name], target.steps))
      if (found) show(element, found, target, place)
    }
  }
}
