/** The text without those of these characters that stand at its end. A regular expression for that tries again at each of them: quadratic time. */
export const trimEnd = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] as string)) end--
  return text.slice(0, end)
}
