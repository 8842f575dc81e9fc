/** Moves the focus to an element, or to the page, if it was lost because an action removed its own button. */
export const regainFocus = (find?: () => HTMLElement | null | undefined): void => {
  // Lists are rendered in a task after the one in which their data arrives.
  setTimeout(() => {
    if (document.activeElement === document.body) (find?.() ?? document.getElementById('content'))?.focus({ preventScroll: true })
  }, 50)
}
