import { useEffect, useRef, useState } from 'react'

/** Text that is reported after a pause in typing. A value from elsewhere, such as a link, replaces it; what was reported does not: more may have been typed since. */
export const useTyped = (value: string, onChange: (value: string) => void, pauseMs: number) => {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  useEffect(() => {
    if (value === reported.current) return
    reported.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === reported.current) return undefined
    const timer = setTimeout(() => {
      reported.current = text
      onChange(text)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [text, onChange, pauseMs])
  return [text, setText] as const
}
