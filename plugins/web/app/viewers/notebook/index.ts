import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { drawn } from '../lib/react-part.tsx'
import { textOf } from '../text-of.ts'
import { notebookOf } from './notebook-data.ts'
import { NotebookView } from './notebook-view.tsx'

/** Jupyter notebooks, with sanitised outputs. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const notebook = notebookOf(textOf(await host.read(0, host.thing.sizeBytes)))
  if (!notebook) throw new Error(host.t('viewer.notebook.damaged'))
  return drawn(element, host.language, createElement(NotebookView, { host, notebook }))
}
