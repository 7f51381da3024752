/** Style of a report. */
export const pageStyle: string = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#fff, #161616); color: light-dark(#111, #eee); }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid light-dark(#bbb, #555); padding: 0.25rem 0.6rem; text-align: start; vertical-align: top; }
th { font-weight: 600; }
details { border: 1px solid light-dark(#bbb, #555); border-radius: 0.4rem; margin: 0.5rem 0; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
dt { font-weight: 600; }
dd { margin: 0 0 0.6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
iframe { width: 100%; height: 40rem; border: 1px solid light-dark(#bbb, #555); }
.passed { color: light-dark(#0a6b2b, #6fd08c); font-weight: 600; }
.failed, .worse { color: light-dark(#a8071a, #ff9c9c); font-weight: 600; }
.undecided { color: light-dark(#7a4d00, #f0c060); font-weight: 600; }
`

/** Script of a report: draws the picture of a run when its case is opened. */
export const pageScript: string = `addEventListener('toggle', ({ target }) => {
  const frame = target.querySelector('iframe')
  if (!target.open || frame === null || frame.hasAttribute('src')) return
  const textOf = (id) => document.getElementById(id).textContent
  const [before, after] = JSON.parse(textOf('picture'))
  const page = [before, textOf(frame.dataset.recording), after]
  frame.src = URL.createObjectURL(new Blob(page, { type: 'text/html' }))
}, true)
`
