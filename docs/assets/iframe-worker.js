/*
 * Search in pages that are opened as files. Browsers start no workers there, so the script of a worker runs in a
 * hidden frame instead, and its messages pass through here. Over HTTP nothing changes.
 */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.documentElement.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = this.inside.document.createElement("script")
      this.ready = new Promise((resolve, reject) => {
        script.onload = resolve
        script.onerror = reject
      })
      script.src = url
      this.inside.document.documentElement.append(script)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
