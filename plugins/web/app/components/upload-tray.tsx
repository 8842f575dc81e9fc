import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { personChanges, useSession } from '../lib/session.ts'
import { createStore, useStore } from '../lib/store.ts'
import { onSignOut } from '../lib/unsaved.ts'
import type { Chosen } from '../lib/uploads/chosen-files.ts'
import { type QueueState, type UploadItem, uploads } from '../lib/uploads/upload-queue.ts'
import { arrivedOf } from '../lib/uploads/upload-requests.ts'
import type { UploadTarget } from '../lib/uploads/upload-storage.ts'
import { useLanguage } from '../lib/use-language.ts'
import { Button, IconButton } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { DotProgress } from './page-parts.tsx'
import { toast } from './toasts.tsx'

interface DuplicateChoice {
  readonly target: UploadTarget
  readonly chosen: Chosen
  /** The IDs of files with the same name and size that are already in the dataset, by path. */
  readonly there: ReadonlyMap<string, string>
}

/** Files that wait for the user's answer, asked one after the other. Another user gets none of them. */
const pendingChoices = createStore<readonly DuplicateChoice[]>([])
personChanges.subscribe(() => pendingChoices.set([]))

const queue = ({ target, chosen, there }: DuplicateChoice): Promise<void> =>
  uploads.add(target, chosen, there).catch(error => toast(messageOf(error)))

/** Queues the dropped or selected files. Asks first when some of them are already in the dataset. */
export const addFiles = async (target: UploadTarget, all: Chosen): Promise<void> => {
  const chosen = uploads.rejoin(target, all)
  if (chosen.unreadable.length > 0) toast(t('uploads.unreadable', { count: chosen.unreadable.length, name: chosen.unreadable[0] ?? '' }))
  if (chosen.files.length === 0 && chosen.emptyFolders.length === 0) return
  const sizes = chosen.files.map(({ path, file }) => ({ path, size: file.size }))
  // Without a response nothing is known to be there; the queue handles an unreachable server.
  const there = await arrivedOf(target, sizes).catch(() => new Map<string, string>())
  if (there.size === 0) await queue({ target, chosen, there })
  else pendingChoices.set([...pendingChoices.get(), { target, chosen, there }])
}

/** Pending uploads, on every page: a button in the header, and the tray that it opens. `isOpened`: by the previous button, which had the focus. */
export const UploadTray = ({ isOpened }: { readonly isOpened: boolean }) => {
  const state = useSyncExternalStore(uploads.subscribe, uploads.state)
  const user = useSession()?.user?.id
  const [isOpen, setOpen] = useState(isOpened)
  const pending = useStore(pendingChoices)
  const [duplicates] = pending
  useEffect(() => {
    if (user !== undefined) void uploads.restore(user)
  }, [user])
  const buttonId = useId()
  const close = (): void => {
    setOpen(false)
    document.getElementById(buttonId)?.focus()
  }
  // Small files finish before any progress is visible: the tray opens when files are added, not when they are being sent.
  const count = state.items.length
  const known = useRef(0)
  useEffect(() => {
    if (count > known.current) setOpen(true)
    known.current = count
  }, [count])
  const [signingOut, setSigningOut] = useState<(isConfirmed: boolean) => void>()
  useEffect(() => onSignOut(async () => uploads.unsentCount === 0 || new Promise(resolve => setSigningOut(() => resolve))), [])
  if (user === undefined) return null
  const answer = (isConfirmed: boolean) => (): void => {
    setSigningOut(undefined)
    if (isConfirmed) uploads.pauseForSignOut()
    signingOut?.(isConfirmed)
  }
  const left = state.counts.waiting + state.counts.sending + state.counts.failed + state.counts.missing
  return (
    <>
      <Button id={buttonId} look="quiet" autoFocus={isOpened} aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        {left > 0 ? t('uploads.left', { count: left }) : t('uploads.title')}
      </Button>
      {isOpen && <Tray state={state} onClose={close} />}
      {signingOut && (
        <Dialog title={t('uploads.signOut.title')} isOpen onClose={answer(false)}>
          <p>{t('uploads.signOut.text', { count: uploads.unsentCount })}</p>
          <div className="actions end">
            <Button onPress={answer(true)}>{t('signOut')}</Button>
            <Button look="filled" onPress={answer(false)}>
              {t('uploads.signOut.stay')}
            </Button>
          </div>
        </Dialog>
      )}
      {duplicates && (
        <Duplicates key={pending.length} duplicates={duplicates} onClose={() => pendingChoices.set(pendingChoices.get().slice(1))} />
      )}
    </>
  )
}

const Duplicates = ({
  duplicates: { target, chosen, there },
  onClose,
}: {
  readonly duplicates: DuplicateChoice
  readonly onClose: () => void
}) => {
  const add = (isSkipped: boolean) => () => {
    onClose()
    void queue({ target, there, chosen: isSkipped ? { ...chosen, files: chosen.files.filter(one => !there.has(one.path)) } : chosen })
  }
  return (
    <Dialog title={t('uploads.there.title', { count: there.size })} isOpen onClose={onClose}>
      <p>{t('uploads.there.text', { name: target.datasetName })}</p>
      <div className="actions end">
        <Button onPress={onClose}>{t('cancel')}</Button>
        <Button onPress={add(false)}>{t('uploads.there.again')}</Button>
        <Button look="filled" onPress={add(true)}>
          {t('uploads.there.skip', { count: there.size })}
        </Button>
      </div>
    </Dialog>
  )
}

const secondsLeft = ({ bytes: all, sentBytes, bytesPerSecond }: QueueState): number | undefined =>
  bytesPerSecond > 0 ? Math.ceil((all - sentBytes) / bytesPerSecond) : undefined

const timeText = (seconds: number): string =>
  seconds < 90
    ? t('uploads.seconds', { count: seconds })
    : seconds < 5400
      ? t('uploads.minutes', { count: Math.round(seconds / 60) })
      : t('uploads.hours', { count: Math.round(seconds / 3600) })

const Tray = ({ state, onClose }: { readonly state: QueueState; readonly onClose: () => void }) => {
  const { counts, items, isPaused, pauseReason, isOffline } = state
  const isBusy = counts.waiting + counts.sending > 0
  const total = items.length - counts.cancelled
  const isMoving = isBusy && !isPaused && !isOffline
  const left = secondsLeft(state)
  const tray = useRef<HTMLElement>(null)
  /** The pressed button is removed. */
  const act = (run: () => void) => (): void => {
    run()
    tray.current?.focus()
  }
  return (
    <section ref={tray} tabIndex={-1} className="upload-tray" aria-label={t('uploads.title')}>
      <header>
        <h2>
          {total === 0
            ? t('uploads.title')
            : t('uploads.progress', { done: number(counts.done + counts.skipped), count: total, total: number(total) })}
        </h2>
        <IconButton icon="x" label={t('close')} onPress={onClose} />
      </header>
      {isBusy && <DotProgress label={t('uploads.title')} done={state.sentBytes} total={state.bytes} />}
      {total > 0 && (
        <p className="help" aria-live="off">
          {t('uploads.bytes', { sent: bytes(state.sentBytes), all: bytes(state.bytes) })}
          {isMoving && state.bytesPerSecond > 0 && ` · ${t('uploads.speed', { speed: bytes(Math.round(state.bytesPerSecond)) })}`}
          {isMoving && left !== undefined && ` · ${timeText(left)}`}
        </p>
      )}
      {isBusy && !isPaused && isOffline && (
        <p role="alert" className="at-work">
          {t('uploads.offline')}
        </p>
      )}
      {isPaused && (
        <p role="alert" className="at-work">
          {t(pauseReason === 'signed-out' ? 'uploads.signedOut' : pauseReason === 'no-space' ? 'uploads.noSpace' : 'uploads.paused')}
        </p>
      )}
      {counts.missing > 0 && <Missing state={state} />}
      {items.length === 0 ? <p>{t('uploads.none')}</p> : <Items items={items} />}
      <div className="actions">
        {(isBusy || isPaused) && (
          <Button icon={isPaused ? 'play' : 'pause'} onPress={() => (isPaused ? uploads.resume() : uploads.pause())}>
            {t(isPaused ? 'uploads.resume' : 'uploads.pause')}
          </Button>
        )}
        {counts.failed > 0 && (
          <Button icon="rotate-cw" onPress={act(() => uploads.retryAll())}>
            {t('uploads.retryAll', { count: counts.failed })}
          </Button>
        )}
        {(isBusy || counts.missing + counts.failed > 0) && (
          <Button onPress={act(() => uploads.cancelAll())}>{t('uploads.cancelAll')}</Button>
        )}
        {!isBusy && counts.done + counts.skipped + counts.cancelled > 0 && (
          <Button onPress={act(() => uploads.clear())}>{t('uploads.clear')}</Button>
        )}
      </div>
    </section>
  )
}

/** After a reload: files that the browser can reopen with permission, and those that have to be selected again. */
const Missing = ({ state: { items, counts } }: { readonly state: QueueState }) => {
  const mayReopen = items.some(({ state, handle }) => state === 'missing' && handle)
  const { target } = items.find(item => item.state === 'missing') ?? {}
  return (
    <div role="alert" className="upload-missing">
      <p>
        {t(mayReopen ? 'uploads.interrupted.reopen' : 'uploads.interrupted.choose', {
          count: counts.missing,
          name: target?.datasetName ?? '',
        })}
      </p>
      {mayReopen ? (
        <Button onPress={() => void uploads.reopen()}>{t('uploads.interrupted.continue')}</Button>
      ) : (
        target && (
          <Link to="/datasets/$id" params={{ id: target.dataset }} className="button">
            {t('uploads.interrupted.toDataset')}
          </Link>
        )
      )}
    </div>
  )
}

const order: Readonly<Record<UploadItem['state'], number>> = {
  failed: 0,
  missing: 1,
  sending: 2,
  waiting: 3,
  done: 4,
  skipped: 5,
  cancelled: 6,
}

const Items = ({ items }: { readonly items: readonly UploadItem[] }) => {
  const list = useRef<HTMLDivElement>(null)
  const sorted = items.toSorted((one, other) => order[one.state] - order[other.state])
  const rows = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => list.current,
    // A failed file has its message below its name.
    estimateSize: () => 44,
    getItemKey: index => sorted[index]?.key ?? index,
    overscan: 5,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by the keyboard
    <section className="upload-items" ref={list} tabIndex={0} aria-label={t('uploads.files')}>
      <ul style={{ blockSize: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const item = sorted[index]
          return item && <Item key={item.key} item={item} index={index} start={start} measure={rows.measureElement} />
        })}
      </ul>
    </section>
  )
}

interface ItemProps {
  readonly item: UploadItem
  readonly index: number
  readonly start: number
  readonly measure: (row: HTMLElement | null) => void
}

/** Rendered again only when it changes: links are expensive to render. */
const Item = memo(({ item, index, start, measure }: ItemProps) => {
  useLanguage()
  const { key, path, size, sent, state, fileId } = item
  const name = path.split('/').at(-1) ?? path
  return (
    <li ref={measure} data-index={index} style={{ transform: `translateY(${start}px)` }}>
      <span className="upload-name" title={path}>
        {state === 'done' && fileId !== undefined ? (
          <Link to="/files/$id" params={{ id: fileId }}>
            {name}
          </Link>
        ) : (
          name
        )}
      </span>
      <span className={state === 'failed' || state === 'missing' ? 'failed help' : 'help'}>{stateText(item)}</span>
      {state === 'failed' && <IconButton icon="rotate-cw" label={t('uploads.retry', { name })} onPress={() => uploads.retry(key)} />}
      {!['done', 'skipped', 'cancelled'].includes(state) && (
        <AriaButton className="button quiet icon" aria-label={t('uploads.cancelOne', { name })} onPress={() => uploads.cancel(key)}>
          ×
        </AriaButton>
      )}
      {state === 'sending' && size > 1_000_000 && <DotProgress label={name} done={sent} total={size} />}
    </li>
  )
})

const stateText = ({ state, size, error, isOffline }: UploadItem): string => {
  if (state === 'failed') return messageOf(error)
  if (state === 'sending' && isOffline) return t('uploads.state.offline')
  return state === 'done' || state === 'waiting' || state === 'sending'
    ? `${t(`uploads.state.${state}`)} · ${bytes(size)}`
    : t(`uploads.state.${state}`)
}
