import WaveSurfer from 'wavesurfer.js'
import { colorOf, make, makeButton, onSchemeChange } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { sectionsOf } from '../lib/sections.ts'
import '../viewers.css'
import './sound.css'

const stepSeconds = 5

interface Mark {
  readonly start: number
  readonly end: number | undefined
  readonly text: string
}

/** Sections of the file that have a time. */
const marksOf = async (host: ViewerHost): Promise<readonly Mark[]> =>
  (await sectionsOf(host))
    .map(({ startTime, endTime, text }) => ({ start: Number(startTime), end: endTime ?? undefined, text }))
    .filter(({ start }) => start >= 0)
    .sort((one, other) => one.start - other.start)

const clock = (seconds: number): string => {
  const whole = Math.floor(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}.${Math.floor((seconds - whole) * 10)}`
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const { t } = host
  const bytes = await host.read(0, host.thing.sizeBytes)
  const marks = await marksOf(host)
  host.signal.throwIfAborted()
  const stop = new AbortController()
  const stage = make('div', {
    className: 'sound-stage sheet',
    tabIndex: 0,
    attributes: { role: 'group', 'aria-label': t('viewer.sound.wave', { name: host.thing.name }) },
  })
  const play = makeButton(t('viewer.sound.play'), () => void wave.playPause())
  const time = make('span', { className: 'sound-time' })
  const list = make('ol', { className: 'sound-marks', attributes: { 'aria-label': t('viewer.sound.sections') } })
  const view = make('div', { className: 'view-box' }, make('div', { className: 'view-bar' }, play, time), stage, list)
  element.append(view)
  const colors = () => ({
    waveColor: colorOf('edge', stage),
    progressColor: colorOf('verdigris', stage),
    cursorColor: colorOf('sandarac', stage),
  })
  // biome-ignore lint/style/noRestrictedImports: a plugin of the library
  const regions = marks.length === 0 ? undefined : (await import('wavesurfer.js/dist/plugins/regions.esm.js')).default.create()
  const wave = WaveSurfer.create({
    container: stage,
    height: 120,
    cspNonce: host.nonce,
    dragToSeek: true,
    ...(regions ? { plugins: [regions] } : {}),
    ...colors(),
  })
  const close = (): void => {
    stop.abort()
    wave.destroy()
    view.remove()
  }
  const broken = new Promise<never>((_, reject) => wave.on('error', reject))
  broken.catch(() => undefined)
  try {
    const type = host.thing.contentType.split(';')[0] ?? ''
    await Promise.race([wave.loadBlob(new Blob([bytes as Uint8Array<ArrayBuffer>], type.startsWith('audio/') ? { type } : {})), broken])
    if (!(wave.getDuration() > 0)) throw new RangeError('No sound')
  } catch (cause) {
    close()
    host.signal.throwIfAborted()
    throw new Error(t('viewer.sound.damaged'), { cause })
  }
  const showTime = (): void => {
    time.textContent = `${clock(wave.getCurrentTime())} / ${clock(wave.getDuration())}`
  }
  const name = (): void => {
    play.textContent = t(wave.isPlaying() ? 'viewer.sound.pause' : 'viewer.sound.play')
  }
  wave.on('timeupdate', showTime)
  wave.on('seeking', showTime)
  for (const event of ['play', 'pause', 'finish'] as const) wave.on(event, name)
  showTime()
  const go = (seconds: number): void => wave.setTime(Math.min(wave.getDuration(), Math.max(0, seconds)))
  const acts: Readonly<Record<string, () => void>> = {
    ' ': () => void wave.playPause(),
    ArrowLeft: () => go(wave.getCurrentTime() - stepSeconds),
    ArrowRight: () => go(wave.getCurrentTime() + stepSeconds),
    Home: () => go(0),
    End: () => go(wave.getDuration()),
  }
  stage.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })
  for (const { start, end, text } of marks) {
    const color = colorOf('sandarac', stage).replace(/^rgb\((.*)\)$/, 'rgba($1, 0.25)')
    regions?.addRegion({ start, ...(end === undefined ? {} : { end }), drag: false, resize: false, color })
    const until = end === undefined ? '' : ` – ${clock(end)}`
    list.append(
      make(
        'li',
        {},
        makeButton(`${clock(start)}${until} ${text}`.trim(), () => go(start)),
      ),
    )
  }
  list.hidden = marks.length === 0
  onSchemeChange(stop.signal, () => wave.setOptions(colors()))
  return close
}
