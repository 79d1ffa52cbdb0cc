package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxMessage bounds a message in bytes. A client sends whole documents.
const maxMessage = 64 << 20

// A message is a request, a notification or a response of JSON-RPC 2.0.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
}

// The error codes of JSON-RPC and LSP that the server uses.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeNotInitialized = -32002
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// readMessage reads the text of a message with its header. The error is io.EOF if the stream ends
// before one.
func readMessage(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
				return nil, fmt.Errorf("message with a length that is not a number up to %d", maxMessage)
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("message without a Content-Length")
	}
	text := make([]byte, length)
	_, err := io.ReadFull(r, text)
	return text, err
}

func writeMessage(w io.Writer, m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(text), text)
	return err
}

// The parts of the protocol that the server uses, named as there.
type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	diagnostic struct {
		Range    span   `json:"range"`
		Severity int    `json:"severity"`
		Code     string `json:"code,omitempty"`
		Source   string `json:"source"`
		Message  string `json:"message"`
	}
	textEdit struct {
		Range   span   `json:"range"`
		NewText string `json:"newText"`
	}
	completionItem struct {
		Label      string   `json:"label"`
		Kind       int      `json:"kind"`
		Detail     string   `json:"detail"`
		SortText   string   `json:"sortText"`
		FilterText string   `json:"filterText"`
		TextEdit   textEdit `json:"textEdit"`
	}
	completionList struct {
		IsIncomplete bool             `json:"isIncomplete"`
		Items        []completionItem `json:"items"`
	}
	markup struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	}
	hover struct {
		Contents markup `json:"contents"`
		Range    span   `json:"range"`
	}
)
