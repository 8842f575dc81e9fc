import './document.css'
import { safeHtml } from '../../lib/safe-html.ts'
import type { ViewedThing, ViewerHost } from '../host.ts'
import { textOf } from '../text-of.ts'

const maxBytes = 1_000_000

/** HTML that an extractor made of a table or of formatted text. HTML that somebody uploaded is shown as what it is: text. */
export const canShow = ({ kind }: ViewedThing): boolean => kind === 'preview'

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const html = textOf(await host.read(0, maxBytes))
  const section = document.createElement('section')
  section.className = 'sheet viewer-document'
  // A box that scrolls has to be reached by the keyboard.
  section.tabIndex = 0
  section.setAttribute('aria-label', host.t('viewer.document.label'))
  const prose = document.createElement('div')
  prose.className = 'prose'
  prose.innerHTML = safeHtml(html)
  section.append(prose)
  element.append(section)
  return () => section.remove()
}
