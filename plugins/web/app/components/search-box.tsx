import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { regainFocus } from '../lib/regain-focus.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'

interface Jump {
  readonly id: string
  readonly name: string
  readonly to: string
  readonly icon: IconName
}

const kinds = [
  { list: 'datasets', path: '/datasets/', icon: 'database' },
  { list: 'files', path: '/files/', icon: 'file' },
  { list: 'collections', path: '/collection/', icon: 'library' },
  { list: 'spaces', path: '/spaces/', icon: 'users' },
] as const

/** Names with the typed prefix, once typing pauses. */
const useJumps = (text: string): readonly Jump[] => {
  const [prefix, setPrefix] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setPrefix(text.trim()), 120)
    return () => clearTimeout(timer)
  }, [text])
  const { data } = useQuery({
    queryKey: ['quick', prefix],
    enabled: prefix.length > 1,
    queryFn: ({ signal }) => api('GET /api/search/quick', { query: { prefix }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
  if (!data || text.trim().length < 2) return []
  return kinds.flatMap(({ list, path, icon }) => data[list].map(({ id, name }) => ({ id, name, to: path + id, icon })))
}

/** The search box: suggests names, and searches everything. `/` and Ctrl+K focus it from anywhere. */
export const SearchBox = () => {
  const query = useRouterState({
    select: state =>
      state.location.pathname.endsWith('/search') ? String((state.location.search as Record<string, unknown>)['query'] ?? '') : '',
  })
  const [text, setText] = useState(query)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const before = useRef<Element>(null)
  const list = useId()
  const navigate = useNavigate()
  const jumps = useJumps(isOpen ? text : '')
  useEffect(() => setText(query), [query])
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent): void => {
      const { target } = event
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
      const isRequested =
        (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey)
      if (!isRequested) return
      event.preventDefault()
      if (document.activeElement !== input.current) before.current = document.activeElement
      input.current?.focus()
      input.current?.select()
    }
    window.addEventListener('keydown', focus)
    return () => window.removeEventListener('keydown', focus)
  }, [])
  const close = (): void => {
    setOpen(false)
    setActive(-1)
  }
  const search = (): void => {
    close()
    input.current?.blur()
    regainFocus()
    if (text.trim() !== '') void navigate({ to: '/search', search: { query: text.trim() } } as never)
  }
  const jump = (to: string): void => {
    close()
    setText('')
    input.current?.blur()
    void navigate({ to: to as never })
  }
  /** Returns the focus to where the shortcut was pressed. */
  const leave = (): void => {
    const { current } = before
    if (current instanceof HTMLElement && current !== document.body && current.isConnected) current.focus()
    else input.current?.blur()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // These keys belong to the input method, such as that of Japanese.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') {
      if (isOpen && jumps.length > 0) close()
      else leave()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (jumps.length === 0) return
      event.preventDefault()
      const count = jumps.length + 1
      const step = event.key === 'ArrowDown' ? 1 : -1
      setActive(((((active + 1 + step) % count) + count) % count) - 1)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const chosen = jumps[active]
      if (chosen) jump(chosen.to)
      else search()
    }
  }
  const isShown = isOpen && jumps.length > 0
  return (
    <search className="search-box">
      <input
        ref={input}
        className="input"
        type="text"
        role="combobox"
        aria-label={t('search.label')}
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${list}-${active}` : undefined}
        placeholder={t('search.placeholder')}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        maxLength={2000}
        value={text}
        onChange={event => {
          setText(event.target.value)
          setOpen(true)
          setActive(-1)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          close()
          before.current = null
        }}
        onKeyDown={onKeyDown}
      />
      <span className="search-key" aria-hidden="true">
        /
      </span>
      {isShown && (
        <div className="popover search-jumps" id={list} role="listbox" aria-label={t('search.jumps')}>
          {jumps.map(({ id, name, to, icon }, at) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the input has the focus and names the active option
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the input's
            <div
              key={id}
              id={`${list}-${at}`}
              role="option"
              aria-selected={at === active}
              className="menu-item"
              onPointerDown={event => event.preventDefault()}
              onClick={() => jump(to)}
            >
              <Icon name={icon} />
              <span dir="auto">{name}</span>
            </div>
          ))}
        </div>
      )}
    </search>
  )
}
