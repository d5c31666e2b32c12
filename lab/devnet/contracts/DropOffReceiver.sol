// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IVaaV1Receiver {
    function executeVAAv1(bytes calldata message) external payable;
}

interface IMessageTransmitter {
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool);
}

interface ITransceiver {
    function receiveMessage(bytes calldata message) external;
}

/// Delivers a message, then pays the drop-off. Has the functions and errors of VAAv1-, Multi-, CCTPv1- and
/// CCTPv2ReceiveWithGasDropOff (executor-helpers), which are one contract each.
contract DropOffReceiver {
    IMessageTransmitter public immutable circleMessageTransmitter;

    error InvalidMsgValue(uint256 msgValue, uint256 dropOffValue);
    error DropOffFailed(address payee, uint256 dropOffValue);
    error InvalidParameters(uint256 contracts, uint256 messages);
    error ReceiveMessageFailed();

    constructor(IMessageTransmitter transmitter) {
        circleMessageTransmitter = transmitter;
    }

    function receiveMessage(address receiver, bytes calldata message, address payee, uint256 dropOff) external payable {
        require(msg.value >= dropOff, InvalidMsgValue(msg.value, dropOff));
        IVaaV1Receiver(receiver).executeVAAv1{value: msg.value - dropOff}(message);
        pay(payee, dropOff);
    }

    function receiveMessages(address[] calldata contracts, bytes[] calldata messages, address payee) external payable {
        require(contracts.length == messages.length, InvalidParameters(contracts.length, messages.length));
        for (uint256 i = 0; i < contracts.length; i++) ITransceiver(contracts[i]).receiveMessage(messages[i]);
        if (msg.value > 0) pay(payee, msg.value);
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation, address payee) external payable {
        require(circleMessageTransmitter.receiveMessage(message, attestation), ReceiveMessageFailed());
        if (msg.value > 0) pay(payee, msg.value);
    }

    function pay(address payee, uint256 dropOff) private {
        (bool isPaid,) = payee.call{value: dropOff}("");
        require(isPaid, DropOffFailed(payee, dropOff));
    }
}
