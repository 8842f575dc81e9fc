import './plain.css'
import { bytes } from '../../lib/format.ts'
import type { ViewerHost } from '../host.ts'
import { textOf } from '../text-of.ts'

const firstBytes = 200_000
const maxBytes = 5_000_000
/** Lines longer than this are cut, so that none of them stops the browser. */
const maxLine = 20_000

const withShortLines = (text: string): string =>
  text.length < maxLine
    ? text
    : text
        .split('\n')
        .map(line => (line.length > maxLine ? `${line.slice(0, maxLine)} …` : line))
        .join('\n')

/** Text of any length: its beginning, and more on request. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const { sizeBytes, name } = host.thing
  const text = document.createElement('pre')
  text.className = 'sheet viewer-plain'
  // A box that scrolls has to be reached by the keyboard.
  text.tabIndex = 0
  text.dir = 'auto'
  text.setAttribute('aria-label', name)
  text.setAttribute('role', 'region')
  const note = document.createElement('p')
  note.className = 'help'
  const more = document.createElement('button')
  more.type = 'button'
  more.className = 'button'
  more.textContent = host.t('viewer.plain.more')

  let shown = 0
  const show = async (wanted: number): Promise<void> => {
    text.textContent = withShortLines(textOf(await host.read(0, wanted)))
    shown = Math.min(wanted, sizeBytes)
    note.textContent = shown < sizeBytes ? `${host.t('viewer.plain.cut', { shown: bytes(shown), size: bytes(sizeBytes) })} ` : ''
    if (shown < sizeBytes && wanted < maxBytes) note.append(more)
  }
  more.addEventListener('click', () => {
    show(Math.min(maxBytes, shown * 5)).catch((error: Error) => !host.signal.aborted && host.toast(error.message))
  })
  await show(firstBytes)
  element.append(text, note)
  return () => element.replaceChildren()
}
