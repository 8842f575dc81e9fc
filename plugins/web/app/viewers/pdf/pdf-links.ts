import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist'
import { make } from '../dom.ts'

/** Maximum number of links per page. */
const maxLinks = 1000

interface Annotation {
  readonly subtype: string
  readonly rect: readonly [number, number, number, number]
  /** Validated by pdf.js. */
  readonly url?: string
  readonly dest?: string | readonly unknown[] | null
}

interface LinkTarget {
  readonly pageLabel: (page: number) => string
  readonly goTo: (page: number) => void
}

/** The page of a destination in the document; undefined if it names none. */
const pageOf = async (opened: PDFDocumentProxy, dest: NonNullable<Annotation['dest']>): Promise<number | undefined> => {
  const found = typeof dest === 'string' ? await opened.getDestination(dest) : dest
  const [target] = (found ?? []) as readonly unknown[]
  if (typeof target === 'number') return target + 1
  return target !== null && typeof target === 'object' ? (await opened.getPageIndex(target as never)) + 1 : undefined
}

/** Elements over the links of a page, positioned in percent. Only internal, http(s) and mailto links are followed; other link actions are ignored. */
export const linksOf = async (
  opened: PDFDocumentProxy,
  page: PDFPageProxy,
  { pageLabel, goTo }: LinkTarget,
): Promise<readonly HTMLElement[]> => {
  const viewport = page.getViewport({ scale: 1 })
  const annotations = (await page.getAnnotations({ intent: 'display' })) as readonly Annotation[]
  const links = annotations.filter(({ subtype, url, dest }) => subtype === 'Link' && (url !== undefined || dest != null)).slice(0, maxLinks)
  const made = await Promise.all(
    links.map(async ({ rect, url, dest }) => {
      const element = await elementOf(url, dest)
      if (!element) return []
      const [left, bottom, right, top] = rect
      const [[x1 = 0, y1 = 0], [x2 = 0, y2 = 0]] = [
        viewport.convertToViewportPoint(left, bottom),
        viewport.convertToViewportPoint(right, top),
      ]
      const part = (length: number, whole: number): string => `${(100 * length) / whole}%`
      element.style.left = part(Math.min(x1, x2), viewport.width)
      element.style.top = part(Math.min(y1, y2), viewport.height)
      element.style.width = part(Math.abs(x1 - x2), viewport.width)
      element.style.height = part(Math.abs(y1 - y2), viewport.height)
      return [element]
    }),
  )
  return made.flat()

  async function elementOf(url: string | undefined, dest: Annotation['dest']): Promise<HTMLElement | undefined> {
    if (url !== undefined)
      return /^(?:https?|mailto):/i.test(url)
        ? make('a', {
            className: 'pdf-link',
            href: url,
            target: '_blank',
            rel: 'noopener noreferrer nofollow',
            title: url,
            attributes: { 'aria-label': url },
          })
        : undefined
    const number = dest == null ? undefined : await pageOf(opened, dest).catch(() => undefined)
    if (number === undefined) return undefined
    const label = pageLabel(number)
    const press = (): void => goTo(number)
    return make('button', {
      type: 'button',
      className: 'pdf-link',
      title: label,
      attributes: { 'aria-label': label },
      on: { click: press },
    })
  }
}
