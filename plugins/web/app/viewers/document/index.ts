import './document.css'
import { safeHtml } from '../../lib/safe-html.ts'
import type { ViewedThing, ViewerHost } from '../host.ts'
import { textOf } from '../text-of.ts'

const maxBytes = 1_000_000

/** HTML that an extractor generated from a table or formatted text. Uploaded HTML is shown as source text. */
export const canShow = ({ kind }: ViewedThing): boolean => kind === 'preview'

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const html = textOf(await host.read(0, maxBytes))
  const section = document.createElement('section')
  section.className = 'sheet viewer-document'
  // Scrollable regions must be focusable.
  section.tabIndex = 0
  section.setAttribute('aria-label', host.t('viewer.document.label'))
  const prose = document.createElement('div')
  prose.className = 'prose'
  prose.innerHTML = safeHtml(html)
  section.append(prose)
  element.append(section)
  return () => section.remove()
}
