// A pen that writes SVG. It has what `graph_paint.js` uses of the context of a canvas.

const n = value => String(Math.round(value * 10) / 10);

export class SvgPen {
  /** `measure` is the context of a canvas: it knows how wide texts are. */
  constructor(width, height, measure) {
    Object.assign(this, {
      measure, parts: [], path: '', fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '', lineJoin: '',
      textAlign: '', textBaseline: '',
    });
    [this.width, this.height] = [n(width), n(height)];
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  beginPath() { this.path = ''; }
  closePath() { this.path += 'Z'; }
  moveTo(x, y) { this.path += `M${n(x)} ${n(y)}`; }
  lineTo(x, y) { this.path += `L${n(x)} ${n(y)}`; }
  quadraticCurveTo(a, b, x, y) { this.path += `Q${n(a)} ${n(b)} ${n(x)} ${n(y)}`; }
  bezierCurveTo(a, b, c, d, x, y) { this.path += `C${n(a)} ${n(b)} ${n(c)} ${n(d)} ${n(x)} ${n(y)}`; }

  /** A whole circle, from its right end, where the pen is. */
  arc(x, y, r) { this.path += `A${n(r)} ${n(r)} 0 1 1 ${n(x - r)} ${n(y)}A${n(r)} ${n(r)} 0 1 1 ${n(x + r)} ${n(y)}`; }

  fill() { this.add(`fill="${escaped(this.fillStyle)}"`); }
  stroke() { this.add(`fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}"`); }

  add(look) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : '';
    if (this.path) this.parts.push(`<path d="${this.path}" ${look}${alpha}/>`);
  }

  fillRect(x, y, width, height) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" fill="${escaped(this.fillStyle)}"/>`);
  }

  strokeText(text, x, y) {
    this.write(text, x, y, `fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}" stroke-linejoin="round"`);
  }

  fillText(text, x, y) {
    this.write(text, x, y, `fill="${escaped(this.fillStyle)}"`);
  }

  write(text, x, y, look) {
    const [, size, family] = /^(\d+)px (.*)$/.exec(this.font);
    const font = `font-size="${size}" font-family="${escaped(family)}"`;
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" ${font} text-anchor="middle" dominant-baseline="central" ${look}>${escaped(text)}</text>`);
  }

  /** The picture. */
  text() {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join('\n')}\n</svg>\n`;
  }
}

// Characters that XML does not allow become what stands for an unknown one.
const escaped = text => String(text).toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
  .replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
