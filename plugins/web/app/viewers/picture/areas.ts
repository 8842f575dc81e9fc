import { make, makeButton } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { sectionsOf } from '../lib/sections.ts'

/** Draws the areas of sections over a picture, and lists them below. The selected one is in the URL. */
export const drawAreas = async (figure: HTMLElement, frame: HTMLElement, picture: HTMLImageElement, host: ViewerHost): Promise<void> => {
  const { naturalWidth: width, naturalHeight: height } = picture
  const sections = (await sectionsOf(host)).flatMap(({ area, text }) => {
    // Sections outside of the picture, such as those made for another size of it, are skipped.
    if (!area || area.w <= 0 || area.h <= 0 || area.x >= width || area.y >= height) return []
    return [{ text: text === '' ? host.t('viewer.picture.unnamed') : text, ...area }]
  })
  if (sections.length === 0 || host.signal.aborted) return
  const part = (length: number, whole: number): string => `${Math.min(100, Math.max(0, (100 * length) / whole))}%`
  const list = make('ol', { className: 'picture-sections', attributes: { 'aria-label': host.t('viewer.picture.sections') } })
  const areas: HTMLElement[] = []
  const buttons: HTMLButtonElement[] = []
  const choose = (chosen: number | undefined): void => {
    for (const [at, area] of areas.entries()) area.classList.toggle('chosen', at === chosen)
    for (const [at, button] of buttons.entries()) button.setAttribute('aria-pressed', String(at === chosen))
    host.state.set(chosen === undefined ? undefined : String(chosen + 1))
  }
  for (const [at, { x, y, w, h, text }] of sections.entries()) {
    const area = make(
      'div',
      { className: 'picture-area', title: text, attributes: { 'aria-hidden': 'true' } },
      make('span', {}, String(at + 1)),
    )
    area.style.insetInlineStart = part(x, width)
    area.style.insetBlockStart = part(y, height)
    area.style.inlineSize = part(Math.min(w, width - x), width)
    area.style.blockSize = part(Math.min(h, height - y), height)
    const button = makeButton(text, () => choose(area.classList.contains('chosen') ? undefined : at))
    areas.push(area)
    buttons.push(button)
    list.append(make('li', {}, button))
  }
  frame.append(...areas)
  figure.append(list)
  const first = Number(host.state.get())
  choose(first >= 1 && first <= sections.length ? first - 1 : undefined)
}
