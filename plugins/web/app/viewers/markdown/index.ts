import './markdown.css'
import { bytes } from '../../lib/format.ts'
import { htmlOf, linkRelatives, scrollToAnchor } from '../../lib/markdown.ts'
import type { ViewerHost } from '../host.ts'
import { textOf } from '../text-of.ts'

const maxBytes = 1_000_000

/** Markdown as sanitised HTML. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const { sizeBytes } = host.thing
  const text = document.createElement('div')
  text.className = 'sheet prose viewer-markdown'
  text.dir = 'auto'
  const source = textOf(await host.read(0, maxBytes))
  if (source.trim() === '') {
    text.className = 'empty'
    text.textContent = host.t('viewer.markdown.empty')
  } else {
    try {
      text.innerHTML = htmlOf(source)
    } catch {
      // Nested too deeply.
      text.classList.add('plain-text')
      text.textContent = source
    }
  }
  // As in notebooks: the headings of the text are below one of the page.
  const heading = document.createElement('h2')
  heading.className = 'visually-hidden'
  heading.textContent = host.thing.name
  element.append(heading, text)
  if (sizeBytes > maxBytes) {
    const note = document.createElement('p')
    note.className = 'help'
    note.textContent = host.t('viewer.markdown.cut', { shown: bytes(maxBytes), size: bytes(sizeBytes) })
    element.append(note)
  }
  // The placeholder above is removed first.
  setTimeout(() => host.signal.aborted || scrollToAnchor(text))
  const { id, name, datasetId, folderId } = host.thing
  if (datasetId !== undefined)
    void linkRelatives(
      text,
      { file: id, name, dataset: datasetId, folder: folderId, api: path => host.api(path), navigate: to => host.navigate(to) },
      host.signal,
      // They stay text.
    ).catch(() => undefined)
  return () => element.replaceChildren()
}
